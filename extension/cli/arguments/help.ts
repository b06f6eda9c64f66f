import { vocabulary } from '../../text/vocabulary';
import type { Verb } from './arguments';

const WORD_WIDTH = 24;
/** Where the explanation of an option begins. */
export const TEXT_COLUMN = 27;

/** The words in the column before the place of a line, as tables have them. */
const STATES = Object.values(vocabulary(text => text).states).map(
  ({ name, sentence }) => `  ${name.padEnd(WORD_WIDTH)} ${sentence.replaceAll('’', "'")}`,
);

/** Of what records; `run` has more of each group. */
const EVERYDAY = `  -o, --output FILE        save the trace to FILE (default: in ~/.cache/gpu-memory-trace/traces, which keeps the newest 30
                           traces of each working directory, at most 10 GiB in all; the path is printed last, unless --format none)
  --format table|json|none
                           json: one document at the end instead of the table; none: print nothing (default: table)
  --report FILE            also write the JSON document to FILE; with --format json, write it only there, not to stdout
  --blocks                 list every live block with its address (by default only if there are 10 or fewer)
  --fail-on-leak[=all]     exit with status 3 if there is a leak with a confidence of at least 50%; =all counts slow leaks too, which
                           need more than a year to fill the GPU. Suspected leaks, and memory that grew until the end, do not
                           count. If there is nothing else, or too little was recorded for a verdict, the exit status is the same
                           as without this option, and a message is printed to stderr
`;
const RECORDING = `  --detail SIZE            keep this many bytes of the most recent events in full, such as 1GiB; older events are kept as totals
                           (default: 512MiB). The first 20 training steps are always kept in full
  --budget SIZE            most disk space for the recording, of all processes together; events beyond it are dropped (default: 2GiB,
                           but at most half of the free disk space; on tmpfs, a quarter)
`;
const FOLDER_NAME = `the name DIR may contain %j (GPU_MEMTRACE_RUN or the
                           launcher's job ID), %h (host), %r (rank) and %p (PID)
`;
const JOB_FOLDER = `  -o DIR/                  for jobs with several ranks: collect every rank's trace in DIR, with tables for "gpu-memtrace report DIR" and
                           SQL, even while the job runs; ${FOLDER_NAME}`;
const RANKS = `  --ranks LIST             with -o DIR/: keep full traces of these ranks, such as 0,7,64-71, and limit those of all others to
                           48 MiB each; for torchrun, set GPU_MEMTRACE_RANKS and use the Python package instead (docs/jobs.md)
`;
const METRICS = `  --otlp [URL]             send metrics every 15 s, as JSON over HTTP, to an OpenTelemetry Collector at URL, such as
                           http://localhost:4318; without URL, use OpenTelemetry's variables (OTEL_EXPORTER_OTLP_ENDPOINT, ..._HEADERS, OTEL_METRIC_EXPORT_INTERVAL)
  --prometheus FILE.prom   write metrics to this file, for the textfile collector of Prometheus's node_exporter
`;
/** Only a checkout of the repository has the simulated GPU. */
const SIMULATE = `  --simulate-gpu           use the simulated GPU, which needs neither a GPU nor a driver
`;
const EXPERT = `  --interval TIME          how often to update findings and the view, such as 2s or 500ms (default: 2s)
`;

/** Where the path is that `record`, `mark` and `holders` take. */
const FOLDER = `Instead of the PID, you can give FOLDER: the trace's folder while it is recorded, in $XDG_RUNTIME_DIR/gpu-memory-trace or,
without that variable, in ~/.cache/gpu-memory-trace/live. It is not the job folder of -o DIR/.
`;

const ALL = `GPU Memory Trace finds GPU memory leaks in PyTorch programs, and shows each allocation with its Python line. To start:

  gpu-memtrace run -o run.gputrace -- python train.py
  gpu-memtrace report run.gputrace --at peak

Commands:

  gpu-memtrace run [options] -- CMD...     run a program and trace its GPU memory
  gpu-memtrace attach PID [options]        trace a program that is already running
  gpu-memtrace record PID|FOLDER on|off    pause or resume recording in a program that is already traced
  gpu-memtrace mark PID|FOLDER NAME        add a named marker to a trace that is being recorded
  gpu-memtrace report FILE|FOLDER          show, compare or export a saved trace, a PyTorch memory snapshot or a job folder
  gpu-memtrace fit FILE [FILE] [options]   forecast which batch, checkpointing or settings fit on the GPU
  gpu-memtrace holders PID|FOLDER|FILE     show which objects keep a traced program's memory alive
  gpu-memtrace kernel ACTION [options]     install, uninstall or list Jupyter kernels that trace their notebooks
  gpu-memtrace sql DIR [QUERY]             query the tables of a job folder with your own DuckDB
  gpu-memtrace doctor [options]            check what this machine can record
  gpu-memtrace mcp                         serve coding agents (Model Context Protocol)
  gpu-memtrace completion SHELL            print a script that completes commands in bash, zsh or fish
  gpu-memtrace --version, -v               print the versions of the command and its native library, and the platform

Run "gpu-memtrace COMMAND --help" to list the options of a command.
`;

const OF_VERBS: Record<Verb, string> = {
  run: `gpu-memtrace run [options] -- CMD...

Runs CMD with its stdin, stdout, stderr and signals unchanged. If stderr is a terminal, its lower half shows leaks and
live memory while CMD runs, and keys go to CMD: Ctrl+C stops it. Otherwise, findings are printed to stderr. At the end,
leaks, live memory by line, totals and the path of the trace are printed to stderr. After an out-of-memory error,
oom-PID.md next to the trace lists the live memory and suggestions.

Everyday:
${EVERYDAY}  --log FILE               write CMD's stdout and stderr to FILE, and show leaks and live memory on the whole terminal, with keys to
                           sort and filter; q closes the view, and CMD keeps running
  --max-steps N            stop CMD (Ctrl+C) after N training steps, with exit status 0

Recording:
${RECORDING}  --start paused           start with recording paused, at almost no cost; turn it on with "gpu-memtrace record PID on" or in VS Code;
                           earlier PyTorch allocations are counted, but have no source line
  --start-at step:N        start recording after training step N
  --start-when "reserved>SIZE"
                           start recording when PyTorch's reserved memory on a GPU exceeds SIZE, such as "reserved>70GiB"; with both
                           options, whichever comes first
  --holders onFirstLeak|atSteps|never
                           when to pause the program to find what keeps leaked memory alive (0.1-0.5 s per pause, longer on
                           a busy machine):
      onFirstLeak          once for each leak or suspected leak, as soon as its growth is found (again if the search found too
                           little), and when the program ends (default)
      atSteps              at steps 16, 32, 64, ... while memory grows, and when the program ends; plain --holders, without a
                           value, means atSteps
      never                only when you run "gpu-memtrace holders"

Jobs:
${JOB_FOLDER}${RANKS}${METRICS}
Expert:
${EXPERT}  --lean                   low-overhead mode for CPU-bound programs: skip autograd nodes, and attribute backward-pass memory to
                           the backward() call instead of the line of the forward pass
  --backend auto|inject|uprobe
                           auto, inject: a library in the program (default); uprobe: kernel probes, which load nothing into the
                           program but need extra privileges, see "gpu-memtrace attach --help"
  --native-stacks          with --backend uprobe: record native stacks, as for attach
${SIMULATE}
Exit status: that of CMD (0 if --max-steps stopped it); 128 + signal if a signal ended it; 125 if the tracer could not
start it; 126 if CMD cannot be executed; 127 if CMD was not found; 3 with --fail-on-leak and a leak; 2 for wrong options.
`,
  report: `gpu-memtrace report FILE|FOLDER [options]

Shows a saved trace (*.gputrace), the folder of a trace that is being recorded, or a PyTorch memory snapshot (*.pickle from
torch.cuda.memory._dump_snapshot; nothing in it is executed), or exports it to another tool's format. For a job folder
("run -o DIR/"), it shows outlier ranks, which lines grow on which rank, and what changed between runs. For any other folder,
it lists the traces in it, newest first.

  --format FORMAT          one of these (default: table):
      table                findings and live memory by line
      json                 one document with everything
      csv                  one row per allocation, including freed ones
      pytorch-snapshot     a pickle for PyTorch's memory viewer (pytorch.org/memory_viz)
      perfetto             a Trace Event file for ui.perfetto.dev: counters, the largest allocations, steps
      pprof                live, peak and allocated bytes by stack, for go tool pprof and speedscope.app
      parquet              one row per allocation, for pandas, polars, DuckDB, Spark; with -o DIR/ (with a trailing /): all tables of
                           the trace, as in a job folder (columns: docs/tables.md)
      html                 Leak Explorer as one file, to open in any browser without a network
  --redact                 html: replace the names of files, functions, modules and variables; leave out arguments and the host
  -o, --output FILE        write to FILE (default: stdout; html, pytorch-snapshot, pprof and parquet need a file or a pipe)
  --at T                   the state at T: 12.5s, 500ms, 2m, 90% (of the run), step:120 (its end), peak, peak:120, mark:NAME,
                           oom (the last out-of-memory error)
  --between T1 T2          only memory allocated between T1 and T2 and still alive at T2
  --compare BASE[@T]       table and json: compare the memory of each line in BASE (A) and in FILE (B), largest difference first;
                           --group-by site compares stacks; to compare two moments of FILE: --compare FILE@T1 --at T2
  --fail-above PERCENT     with --compare: exit with status 3 if the peak, or what a line leaks per step, is more than PERCENT
                           (such as 5%) above that of BASE; to pass several base runs, repeat --compare. In GitHub Actions, the lines are
                           annotated, and the job summary shows the result
  --group-by site|line|function|file|thread|process|device|module-path|pool
                           table and json: how to group memory (default: line)
  --blocks                 table: list every live block with its address (by default only if there are 10 or fewer)
  --run NAME               choose a run from a job folder with several runs (default: the newest)
  --oom                    only out-of-memory errors, as a Markdown document: live memory and suggestions

Verdicts in the table (how they are determined: docs/leaks.md):
${STATES.join('\n')}

Ctrl+C while writing deletes the partial file.

Exit status: 0, even if the file is cut short or damaged (the readable part is shown, with a message at the top of the table
or on stderr); 1 if the trace cannot be read, the result cannot be written, or --fail-above cannot be judged; 2 for wrong
options; 3 if the limit of --fail-above is exceeded; 130 after Ctrl+C.
`,
  holders: `gpu-memtrace holders PID|FOLDER|FILE [options]

Shows which objects hold the memory of the leaks found so far, in a program that runs with the tracer ("gpu-memtrace run",
VS Code). The search pauses the program for 0.1-0.5 s, longer on a busy machine, and runs none of its code. For a saved trace
(FILE) or a program that has ended, the recorded holders are shown.
${FOLDER}
  --line FILE:LINE         show the holders of blocks allocated by this line, or by code that it calls
  --address 0x...          show the holder of the tensor at this address
  --format table|json      (default: table)

Exit status: 0; 1 if there was no answer; 2 for wrong options.
`,
  record: `gpu-memtrace record PID|FOLDER on|off

Starts, resumes or pauses recording in all processes of a program that runs with the tracer ("gpu-memtrace run", VS Code).
${FOLDER}On resume, PyTorch's current blocks are read again: blocks freed while paused disappear, and blocks allocated while paused
have no source line.

Exit status: 0; 1 if the program is not traced or has ended; 2 for wrong options.
`,
  mark: `gpu-memtrace mark PID|FOLDER NAME

Adds a named marker, such as "before eval", to the trace of a running program. Use it as report --at "mark:before eval";
Leak Explorer shows it and can compare with it.
${FOLDER}
Exit status: 0; 1 if the program is not traced or has ended; 2 for wrong options.
`,
  kernel: `gpu-memtrace kernel install|uninstall|list [options]

Installs a Jupyter kernel "Python 3 (GPU Memory Trace)" next to an existing one. It traces the GPU memory of its notebooks
from each start of the kernel to its end. Traces are stored with those of "run". "list" shows Jupyter's Python kernels.

  --kernel NAME            the existing kernel to trace (default: python3)
  --python PATH            trace this Python instead, which needs ipykernel
  --user                   install it for your user (default: next to the other kernel; with --python, for your user)
  --prefix DIR             install it in DIR/share/jupyter
  --name NAME              name of the new kernel, also for uninstall (default: the existing kernel's name plus -gpu-memtrace)

Exit status: 0; 1 if there is no such kernel or it cannot be written or removed; 2 for wrong options.
`,
  fit: `gpu-memtrace fit FILE [FILE] [options]

Shows how much memory a run would reserve with another batch, checkpointing, gradient accumulation, optimizer, allocator settings or
GPU, and the largest batch that fits. It replays the recorded allocations by the rules of PyTorch's allocator. A second trace of
the same program, with another batch, makes forecasts for other batches more accurate.

  --batch N[,M][:TRY]      the batch size of the recorded run, such as 8, or with two traces, the size of each, such as 8,16. To
                           try another size, add it after a colon: 8:24 or 8,16:24
  --gpu SIZE               the memory of another GPU, such as 80GiB (default: the GPU of the run)
  --checkpoint MODULES     checkpoint these modules, such as "layers.*", or every second one: "layers.*:2" (their activations are
                           computed again in the backward pass)
  --accumulate PARTS       compute the batch in this many parts and add up their gradients
  --optimizer-states PCT   forecast with optimizer states of this size, as a percentage of the recorded ones; after a run with Adam: about
                           50% for SGD with momentum, 25% for 8-bit Adam
  --no-foreach             update one parameter after the other (foreach=False)
  --set-to-none            free the gradients every step (zero_grad(set_to_none=True))
  --bf16-parameters        parameters, gradients and optimizer states in bfloat16; activations stay as recorded, which is the most
                           that they take
  --fsdp RANKS             one of this many ranks that share the model and gather it module by module
  --free FILE:LINE         free what this line allocates at the end of its step
  --allocator SETTINGS     run with these settings, as in PYTORCH_CUDA_ALLOC_CONF, such as expandable_segments:True
  --format table|json      (default: table)

Exit status: 0; 3 if what you requested does not fit; 1 if there is nothing to replay; 2 for wrong options.
`,
  sql: `gpu-memtrace sql DIR [QUERY] [options]

Queries the tables of a job folder with your own DuckDB: the program duckdb on PATH, or else the Python package. QUERY is a
statement on the tables runs, ranks, steps, stacks, site_steps, allocations, events and findings, or the name of a built-in
query; without QUERY, the built-in queries are listed. Tables are created first for traces in DIR that have none.

  --format table|csv       (default: table)
  --print duckdb|clickhouse|spark
                           print the statements for that engine (default: duckdb) instead of running them

Exit status: 0; 1 if there is no DuckDB, it rejects the statement, or DIR is not a job folder; 2 for wrong options.
`,
  doctor: `gpu-memtrace doctor [options]

Checks what this machine can record, and lists how to fix what is missing.

  --format table|json      (default: table)

Exit status: 0 if recording is possible; 1 if not; 2 for wrong options.
`,
  mcp: `gpu-memtrace mcp

Serves the Model Context Protocol on stdin and stdout, for coding agents. It opens no port. Put this into the file in which
the agent looks for servers, such as .mcp.json in the project folder (Claude Code) or .cursor/mcp.json (Cursor):

  {"mcpServers": {"gpu-memory-trace": {"command": "gpu-memtrace", "args": ["mcp"]}}}

Agents do not see shell aliases. If gpu-memtrace is one, use "command": "node", "args": ["/full/path/to/cli.js", "mcp"].

Its tools read live and saved traces. Pausing a program (find_holders) or running one (run_traced) needs your confirmation; if
the agent's client cannot show a prompt, the agent must state that you agreed. A program that run_traced starts ends with that call.

Exit status: 0 when the client disconnects; 128 + signal if a signal ended it; 2 for wrong options.
`,
  completion: `gpu-memtrace completion bash|zsh|fish

Prints a script that completes commands, options, their values and the names of traces. To install it, add the line for your
shell to its startup file (bash: ~/.bashrc, zsh: ~/.zshrc, fish: ~/.config/fish/config.fish):

  bash   source <(gpu-memtrace completion bash)
  zsh    source <(gpu-memtrace completion zsh)
  fish   gpu-memtrace completion fish | source

Exit status: 0; 2 for wrong options.
`,
  attach: `gpu-memtrace attach PID [options]

Traces a running process that has loaded the CUDA driver, and the children that it forks. Nothing is loaded into the
process: kernel probes record its calls. Memory allocated earlier has no source line. Ctrl+C detaches, and the program keeps
running; tracing also ends with the program. A terminal shows leaks and live memory, with keys to sort and filter (q also
detaches); otherwise, findings are printed to stderr. At the end, it prints the same summary as "run".

Probes need extra privileges: capabilities on the tracer's file (Linux 6.6 and newer; "gpu-memtrace doctor" prints the
command), or root. sudo does not see shell aliases: if gpu-memtrace is one, use sudo "$(command -v node)" /full/path/to/cli.js.

Everyday:
${EVERYDAY}
Recording:
${RECORDING}
Jobs:
  -o DIR/                  add this trace to the job folder DIR, for example if srun starts one "gpu-memtrace attach" per rank;
                           ${FOLDER_NAME}  --ranks LIST             as for "run"; the rank is that of gpu-memtrace itself, set by the launcher that started it; without a
                           launcher, the option has no effect
${METRICS}
Expert:
${EXPERT}  --native-stacks          also record native stacks, for memory that C++ code allocates without Python

Exit status: 0 after detaching and when the program ended; 3 with --fail-on-leak and a leak; 2 for wrong options; 125 if the
tracer could not attach or failed.
`,
};

/** Its lines, none longer than `columns` where words allow it. `checkout`: of the repository. */
export function helpLines(about: Verb | null, columns: number, checkout: boolean): string[] {
  const text = about === null ? ALL : OF_VERBS[about];
  const lines = (checkout ? text : text.replace(SIMULATE, '')).trimEnd().split('\n');
  if (lines.every(line => line.length <= columns)) return lines;
  const whole: string[] = [];
  for (const line of lines) {
    const before = whole.at(-1) ?? '';
    const optionAlone = /^ +-/.test(before) && !/\S {2,}\S/.test(before);
    const continues = line.startsWith(' '.repeat(TEXT_COLUMN)) || (/^\S/.test(line) && /^\S/.test(before));
    if (continues && before !== '' && !optionAlone) whole[whole.length - 1] = `${before} ${line.trimStart()}`;
    else whole.push(line);
  }
  return whole.flatMap(line => wrapped(line, columns));
}

/** What comes below the first line begins where its explanation does. */
function wrapped(line: string, columns: number): string[] {
  const indent = ' '.repeat(/^ +\S/.test(line) ? TEXT_COLUMN : 0);
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const space = rest.lastIndexOf(' ', columns);
    if (rest.slice(0, space).trim() === '') break;
    lines.push(rest.slice(0, space).trimEnd());
    rest = indent + rest.slice(space + 1).trimStart();
  }
  return [...lines, rest];
}
