/* The text of a trace: numbers, addresses and quoted bytes as strace writes them, and never more than fits into the line. */
#include "shim/strace/strace.h"

void strace_put_char(struct trace *trace, char character)
{
    if (trace->at < trace->end)
        *trace->at++ = character;
    else
        trace->cut = true;
}

void strace_put(struct trace *trace, const char *text)
{
    while (*text != '\0')
        strace_put_char(trace, *text++);
}

static void put_digits(struct trace *trace, uint64_t number, unsigned base)
{
    char digits[24];
    char *digit = digits + sizeof digits;

    *--digit = '\0';
    do
        *--digit = "0123456789abcdef"[number % base];
    while ((number /= base) != 0);
    strace_put(trace, digit);
}

void strace_put_unsigned(struct trace *trace, uint64_t number)
{
    put_digits(trace, number, 10);
}

void strace_put_number(struct trace *trace, int64_t number)
{
    if (number < 0)
        strace_put_char(trace, '-');
    put_digits(trace, number < 0 ? -(uint64_t)number : (uint64_t)number, 10);
}

void strace_put_hex(struct trace *trace, uint64_t number)
{
    strace_put(trace, "0x");
    put_digits(trace, number, 16);
}

void strace_put_octal(struct trace *trace, uint64_t number)
{
    strace_put(trace, number < 8 ? "00" : "0"); /* at least three digits */
    put_digits(trace, number, 8);
}

void strace_put_address(struct trace *trace, uint64_t address)
{
    if (address == 0)
        strace_put(trace, "NULL");
    else if (trace->stable)
        strace_put(trace, "0x...");
    else
        strace_put_hex(trace, address);
}

void strace_put_member(struct trace *trace, const char *name, int64_t value)
{
    strace_put(trace, name);
    strace_put_char(trace, '=');
    strace_put_number(trace, value);
}

static const char escapes[128] = {
    ['\t'] = 't', ['\n'] = 'n', ['\v'] = 'v', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\',
};

/* Print a byte that is no printable character in octal, with as few digits as the next byte allows. */
static void put_octal_escape(struct trace *trace, unsigned char byte, bool digit_follows)
{
    strace_put_char(trace, '\\');
    if (digit_follows || byte >= 0100)
        strace_put_char(trace, (char)('0' + (byte >> 6)));
    if (digit_follows || byte >= 010)
        strace_put_char(trace, (char)('0' + (byte >> 3 & 7)));
    strace_put_char(trace, (char)('0' + (byte & 7)));
}

void strace_put_quoted(struct trace *trace, const char *bytes, size_t length)
{
    strace_put_char(trace, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];

        if (byte < 128 && escapes[byte] != 0) {
            strace_put_char(trace, '\\');
            strace_put_char(trace, escapes[byte]);
        } else if (byte >= ' ' && byte < 127) {
            strace_put_char(trace, (char)byte);
        } else {
            put_octal_escape(trace, byte, i + 1 < length && bytes[i + 1] >= '0' && bytes[i + 1] <= '7');
        }
    }
    strace_put_char(trace, '"');
}

/* Copy from the application's memory, even if the address is wrong. Returns false if it cannot be read. */
bool strace_fetch(const struct trace *trace, void *to, uint64_t address, size_t size)
{
    struct iovec local = {to, size};
    struct iovec remote = {(void *)address, size};

    return NATIVE(process_vm_readv, trace->thread->process->ids.pid, &local, 1, &remote, 1, 0) == (long)size;
}
