/* Classic BPF as seccomp(2) has it: programs are checked once, and run on the numbers and arguments of calls. The rules are
 * those of bpf_check_classic and seccomp_check_filter in the kernel. */
#include "shim/core/memory.h"
#include "shim/sys/process/seccomp.h"

#define MEMORY_WORDS 16

/* Return whether an instruction has no operand with rules of its own; `check_one` handles the others. */
static bool is_plain(uint16_t code)
{
    switch (code) {
    case BPF_LD | BPF_IMM:
    case BPF_LDX | BPF_IMM:
    case BPF_MISC | BPF_TAX:
    case BPF_MISC | BPF_TXA:
    case BPF_ALU | BPF_NEG:
    case BPF_RET | BPF_K:
    case BPF_RET | BPF_A:
    case BPF_LD | BPF_W | BPF_LEN:
    case BPF_LDX | BPF_W | BPF_LEN:
        return true;
    default:
        return false;
    }
}

static bool is_right_arithmetic(const struct sock_filter *at)
{
    uint16_t operation = BPF_OP(at->code);

    if (operation > BPF_XOR || operation == BPF_MOD || operation == BPF_NEG)
        return false;
    if (BPF_SRC(at->code) == BPF_X)
        return true;
    return operation == BPF_DIV ? at->k != 0 : (operation != BPF_LSH && operation != BPF_RSH) || at->k < 32;
}

/* Return whether a jump goes forward, and not behind the end. */
static bool is_right_jump(const struct sock_filter *at, unsigned left)
{
    uint16_t operation = BPF_OP(at->code);

    if (operation == BPF_JA)
        return at->code == (BPF_JMP | BPF_JA) && at->k < left;
    return operation <= BPF_JSET && at->jt < left && at->jf < left;
}

/* Check one instruction, which `left` others follow. */
static bool check_one(const struct sock_filter *at, unsigned left)
{
    switch (BPF_CLASS(at->code)) {
    case BPF_ALU:
        return at->code == (BPF_ALU | BPF_NEG) || ((at->code & ~0xffU) == 0 && is_right_arithmetic(at));
    case BPF_JMP:
        return (at->code & ~0xffU) == 0 && is_right_jump(at, left);
    case BPF_LD:
        if (at->code == (BPF_LD | BPF_W | BPF_ABS))
            return at->k % 4 == 0 && at->k < sizeof(struct seccomp_data);
        break;
    default:
        break;
    }
    if (at->code == (BPF_LD | BPF_MEM) || at->code == (BPF_LDX | BPF_MEM) || at->code == BPF_ST || at->code == BPF_STX)
        return at->k < MEMORY_WORDS;
    return is_plain(at->code);
}

bool bpf_is_right(const struct sock_filter *program, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        if (!check_one(&program[i], length - 1 - i))
            return false;
    return BPF_CLASS(program[length - 1].code) == BPF_RET;
}

static uint32_t calculate(uint16_t operation, uint32_t left, uint32_t right)
{
    switch (operation) {
    case BPF_ADD:
        return left + right;
    case BPF_SUB:
        return left - right;
    case BPF_MUL:
        return left * right;
    case BPF_DIV:
        return left / right;
    case BPF_OR:
        return left | right;
    case BPF_AND:
        return left & right;
    case BPF_LSH:
        return right < 32 ? left << right : 0;
    case BPF_RSH:
        return right < 32 ? left >> right : 0;
    case BPF_XOR:
        return left ^ right;
    default:
        return -left;
    }
}

static bool compare(uint16_t operation, uint32_t left, uint32_t right)
{
    switch (operation) {
    case BPF_JEQ:
        return left == right;
    case BPF_JGT:
        return left > right;
    case BPF_JGE:
        return left >= right;
    default:
        return (left & right) != 0;
    }
}

/* The accumulator, the index register and the memory of a running program. */
struct machine {
    uint32_t a, x, memory[MEMORY_WORDS];
};

/* Return the operand of a load: BPF_LD into the accumulator, BPF_LDX into the index register. */
static uint32_t loaded(const struct machine *machine, const struct sock_filter *at, const struct seccomp_data *data)
{
    switch (BPF_MODE(at->code)) {
    case BPF_ABS:
        return *(const uint32_t *)((const uint8_t *)data + at->k);
    case BPF_MEM:
        return machine->memory[at->k];
    case BPF_LEN:
        return sizeof *data;
    default:
        return at->k;
    }
}

/* Run a program for a call, and return its result. Every program ends, since it only jumps forward. */
uint32_t bpf_run(const struct sock_filter *at, const struct seccomp_data *data)
{
    struct machine machine = {0};

    for (;; at++) {
        uint32_t operand = BPF_SRC(at->code) == BPF_X ? machine.x : at->k;

        switch (BPF_CLASS(at->code)) {
        case BPF_LD:
            machine.a = loaded(&machine, at, data);
            break;
        case BPF_LDX:
            machine.x = loaded(&machine, at, data);
            break;
        case BPF_ST:
            machine.memory[at->k] = machine.a;
            break;
        case BPF_STX:
            machine.memory[at->k] = machine.x;
            break;
        case BPF_ALU:
            if (at->code == (BPF_ALU | BPF_DIV | BPF_X) && operand == 0)
                return 0;
            machine.a = calculate(BPF_OP(at->code), machine.a, operand);
            break;
        case BPF_JMP:
            if (BPF_OP(at->code) == BPF_JA)
                at += at->k;
            else
                at += compare(BPF_OP(at->code), machine.a, operand) ? at->jt : at->jf;
            break;
        case BPF_RET:
            return BPF_RVAL(at->code) == BPF_A ? machine.a : at->k;
        default:
            if (BPF_MISCOP(at->code) == BPF_TAX)
                machine.x = machine.a;
            else
                machine.a = machine.x;
        }
    }
}
