#!/usr/bin/env bash
# Support tickets: from a table as it is to a model that sorts the tickets of the next day, and learns from them.
#
# Usage: docs/how-to/support-tickets.sh [FOLDER]. The program is found as `noregret`, or where NOREGRET says.
set -euo pipefail
noregret=${NOREGRET:-noregret}
cd "${1:-$(mktemp -d)}"

# The tickets of some weeks: id, time, customer, channel, free text, priority, an amount such as 1,234.50, and the queue in which
# each ended. Any CSV with a column to predict will do.
"$noregret" generate tickets --rows "${ROWS:-2000}" --output tickets.csv

# Learn them, in order. What each column is taken for is said first, and can be said otherwise: --text, --categorical, --numeric,
# --time, --drop. The summary tells the error rate beside that of naming the commonest queue.
"$noregret" run tickets.csv --label queue --save queues.model --predictions learnt.csv --id id

# The next day there is a queue that nobody has seen, and the column of priorities has gone.
"$noregret" generate tickets --rows "${TOMORROW:-500}" --set day=2 --set after="${ROWS:-2000}" --output tomorrow.csv

# A line for every ticket, with its id and how sure the forecast is. No labels are needed, and the new queue does no harm.
"$noregret" predict queues.model tomorrow.csv --id id --confidence --output sorted.csv

# In the evening the queues are known: learn from them. The new one is taken in.
"$noregret" run tomorrow.csv --load queues.model --save queues.model

# What is in the model by now.
"$noregret" inspect queues.model
