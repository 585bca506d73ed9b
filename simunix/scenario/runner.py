class ScenarioOptions: pass
def run_scenario(o): return 1
