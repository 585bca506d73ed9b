/* Gives the turn to a thread of another process whose deadline has come, without the server.
 *
 * The order must be that of the server, which would make all due threads ready before one of them runs. So only one
 * thread may be due. The journal gets the states of the threads of the process that hands the turn on; the server reads
 * the journal with the next message. */
#include "shared/timer_queue.h"
#include "shim/turn/turn.h"

static unsigned news_of(const struct process *process)
{
    unsigned count = 0;

    for (const struct thread *thread = process->handoffs.parked; thread != NULL; thread = thread->handoff.next)
        count += thread->handoff.is_news;
    return count;
}

/* Return whether the turn may go to a thread of another process that is due at a moment. */
bool remote_handoff_fits(const struct process *process, uint64_t moment)
{
    struct simunix_clock_page *page = process->page;
    const struct simunix_timer_queue *timer_queue = timer_queue_of(page);

    return page->remote_handoffs != 0 && page->due_slot != 0 && timer_queue_due(page, moment, 1) == 1 &&
           timer_queue->journal_count < SIMUNIX_JOURNAL_MAX - news_of(process);
}

void remote_handoff_write(struct process *process)
{
    struct simunix_timer_queue *timer_queue = timer_queue_of(process->page);

    timer_queue->journal_count = handoff_news(timer_queue->journal, timer_queue->journal_count % SIMUNIX_JOURNAL_MAX,
                                              SIMUNIX_JOURNAL_MAX, process->handoffs.parked);
    process->handoffs.has_news = false;
}
