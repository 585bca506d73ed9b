class Scenario: pass
