import { vocabulary } from '../../text/vocabulary';
import type { Verb } from './arguments';

const WORD_WIDTH = 24;
/** Where the explanation of an option begins. */
const TEXT_COLUMN = 27;

/** The words in the column before the place of a line, as tables have them. */
const STATES = Object.values(vocabulary(text => text).states).map(
  ({ name, sentence }) => `  ${name.padEnd(WORD_WIDTH)} ${sentence}`,
);

/** Of what records; `run` has more of each group. */
const EVERYDAY = `  -o, --output FILE        save the trace there (else it is kept in the cache, the newest 10; its path is the last line unless --format none)
  --format table|json|none json: one document at the end, no table; none: prints nothing of its own (default: table)
  --report FILE            write the JSON document to FILE (with --format json: instead of stdout)
  --blocks                 list the blocks at the end, each with its address; unasked only where there are at most 10
  --fail-on-leak[=all]     exit with 3 when a leak was found; =all: also one that takes more than a year to fill the GPU; where
                           too little was recorded to tell, the status stays as it is, and stderr says so
`;
const RECORDING = `  --detail SIZE            the newest events, of that size in the log, stay in full, such as 1GB; what older ones made is kept (default:
                           512MB, and the first 20 training steps)
  --budget SIZE            most that the trace takes while it is recorded, of all processes together (default: 2GB, or half of what is
                           free, or a quarter of it where the disk is memory)
`;
const JOBS = `  -o DIR/                  of a job of many ranks: DIR gathers the trace of each, and tables that "gpu-memtrace report DIR" and SQL
                           read, also while it runs; in its name %j is the job as the launcher calls it, %h the host, %r the rank
  --ranks LIST             with -o DIR/: ranks such as 0,7,64-71 are recorded in full, others within 48 MB: steps, sites, findings
  --otlp [URL]             send metrics every 15 s to a collector, as JSON over HTTP, such as http://localhost:4318; without URL as
                           OpenTelemetry's variables say (OTEL_EXPORTER_OTLP_ENDPOINT, ..._HEADERS, OTEL_METRIC_EXPORT_INTERVAL)
  --prometheus FILE.prom   keep them in this file, for the textfile collector of Prometheus's node_exporter
`;
/** Only a checkout of the repository has the simulated GPU. */
const SIMULATE = `  --simulate-gpu           use the simulated GPU: no GPU and no driver are needed
`;
const EXPERT = `  --interval TIME          time between two looks at the memory, such as 2s or 500ms (default: 2s)
`;

const ALL = `GPU Memory Trace: every GPU allocation of a program, with its Python line and thread.

  gpu-memtrace run [options] -- CMD...     run a program and watch its GPU memory
  gpu-memtrace attach PID [options]        watch a program that is already running
  gpu-memtrace record PID on|off           go on or pause recording a traced program
  gpu-memtrace mark PID NAME               give this moment of a traced program a name
  gpu-memtrace report FILE [options]       show a saved trace, a memory snapshot of PyTorch, or the folder of a job
  gpu-memtrace holders PID [options]       ask a traced program who holds its memory
  gpu-memtrace kernel install [options]    make a Jupyter kernel that records what its notebooks do
  gpu-memtrace sql DIR QUERY               ask the tables of a job with your own DuckDB
  gpu-memtrace doctor [options]            check what this machine can record
  gpu-memtrace mcp                         answer a coding agent, by the Model Context Protocol
  gpu-memtrace --version

"gpu-memtrace run --help" and so on list the options.
`;

const OF_VERBS: Record<Verb, string> = {
  run: `gpu-memtrace run [options] -- CMD...

Runs CMD with its own stdin, stdout, stderr and signals. While it runs, the lower half of a terminal on stderr shows what
leaks and what is alive, and all keys reach CMD: Ctrl+C stops it. Elsewhere stderr gets a line when something is found. At
the end it gets what leaks, what is alive by line, the totals, and where the trace is. After an out-of-memory error,
oom-PID.md beside the trace says what was alive and what to try.

Everyday:
${EVERYDAY}  --log FILE               CMD's stdout and stderr go to FILE, and the whole terminal shows what leaks and what is alive, with
                           keys to sort and filter; q leaves it, and CMD goes on
  --max-steps N            stops CMD (Ctrl+C) after N training steps, with status 0

Recording:
${RECORDING}  --start paused           record nothing, at next to no cost, until "gpu-memtrace record PID on" or a click in VS Code says so;
                           what PyTorch holds then is known, without its lines
  --start-at step:N        the same, until training step N has ended
  --start-when "reserved>SIZE"
                           the same, until PyTorch's cache holds more of a GPU, such as "reserved>70GB"; with both: whichever
                           comes first
  --holders onFirstLeak|atSteps|never
                           when the program is paused to tell who holds what leaks; each pause takes about half a second,
                           longer on a busy machine:
      onFirstLeak          once for each leak, as soon as it is certain, and at the program's end (default)
      atSteps              at steps 16, 32, 64, ... and at the program's end; also --holders alone
      never                only when "gpu-memtrace holders" asks

Jobs:
${JOBS}
Expert:
${EXPERT}  --lean                   for programs whose GPU waits for Python: nothing is done for each autograd node, and memory of a
                           backward pass is shown at its backward() call, not at the line of the forward pass
  --backend auto|inject|uprobe
                           auto, inject: a library in the program (default); uprobe: probes in the kernel, the program
                           starts as without a tracer; needs extra privileges, see "gpu-memtrace attach --help"
  --native-stacks          with --backend uprobe: as for attach
${SIMULATE}
Exit status: CMD's own, 128 + signal when a signal ended it; 125 the tracer could not start it, 126 CMD cannot be
executed, 127 CMD was not found; 3 with --fail-on-leak and a leak; 2 wrong options.
`,
  report: `gpu-memtrace report FILE|FOLDER [options]

Shows a saved trace (*.gputrace), the folder of one that is being recorded, or a memory snapshot of PyTorch (*.pickle of
torch.cuda.memory._dump_snapshot; nothing in it is executed), or writes it in the format of another tool. Of a job’s folder
("run -o DIR/") it shows which ranks differ from their equals, what grows in which of them, and how runs changed.

  --format FORMAT          table (default), json, or one of these:
      csv                  one row per allocation, ended ones too
      pytorch-snapshot     a pickle for PyTorch's memory viewer (pytorch.org/memory_viz)
      perfetto             a Trace Event file for ui.perfetto.dev: counters, the biggest allocations, steps
      pprof                live, peak and allocated bytes by stack, for go tool pprof and speedscope.app
      parquet              one row per allocation, for pandas, polars, DuckDB, Spark; with -o DIR/ (a / behind it) all tables of the
                           trace, as a job’s folder has them (columns: docs/tables.md)
  -o, --output FILE        write there (default: stdout; pytorch-snapshot, pprof and parquet not to a terminal)
  --at T                   everything as it was at T: 12.5s, 500ms, 2m, 90% of the run, step:120 (its end), peak, peak:120,
                           mark:NAME, oom (when memory ran out last)
  --between T1 T2          only what was allocated from T1 to T2 and was alive at T2
  --compare BASE[@T]       table and json: what each line holds in BASE (A) and here (B), biggest difference first; --group-by
                           site compares stacks; the same file twice compares two moments: --compare FILE@T1 --at T2
  --fail-above PERCENT     with --compare (several times: repeats of the base): exit status 3 where the peak is that much above
                           the base's, or a line leaves that much more behind in each step; in a job of GitHub Actions the
                           lines are annotated and the job's summary says it
  --group-by site|line|function|file|thread|process|device|module-path|pool
                           table and json: sums by these (default: line)
  --blocks                 table: list the blocks, each with its address; unasked only where there are at most 10
  --run NAME               of a job’s folder with several runs, this one (default: the newest)
  --oom                    only the failed allocations, as a Markdown document: what was alive, and what to try

What the words of the table mean (how they are found: docs/leaks.md):
${STATES.join('\n')}

Ctrl+C while a file is written removes what there is of it.

Exit status: 0, also where the file is cut short or damaged: what is left is shown, and a sentence says what is missing (at
the top of the table; else on stderr); 1 the trace cannot be read, the result not written, or --fail-above cannot be judged;
2 wrong options; 3 above the limit of --fail-above; 130 after Ctrl+C.
`,
  holders: `gpu-memtrace holders PID|FOLDER|FILE [options]

Asks a program that runs under the tracer ("gpu-memtrace run", VS Code) who holds the blocks of the leaks that were found so
far. The program is paused for about half a second, longer on a busy machine, and none of its code runs. For a program
that has ended, and for a saved trace, it shows what was recorded.

  --line FILE:LINE         ask for the blocks that this line, or what it called, allocated
  --address 0x...          ask for the tensor at this address
  --format table|json      (default: table)

Exit status: 0; 1 there was no answer; 2 wrong options.
`,
  record: `gpu-memtrace record PID|FOLDER on|off

Pauses the recording of a program that runs under the tracer ("gpu-memtrace run", VS Code), or goes on with it, in all of its
processes. What PyTorch holds when recording goes on is known again: what went meanwhile is gone, and what came has no line.

Exit status: 0; 1 the program is not traced, or has ended; 2 wrong options.
`,
  mark: `gpu-memtrace mark PID|FOLDER NAME

Gives this moment of a program that is being traced a name, such as "before eval". The trace keeps it; report takes it as
--at "mark:before eval", and Leak Explorer shows it and compares with it.

Exit status: 0; 1 the program is not traced, or has ended; 2 wrong options.
`,
  kernel: `gpu-memtrace kernel install|uninstall|list [options]

Makes a Jupyter kernel "Python 3 (GPU Memory Trace)" beside another one: what its notebooks do on GPUs is recorded, from each
start of the kernel to its end. The trace is kept where those of "run" are. "list" shows Jupyter's Python kernels.

  --kernel NAME            the kernel that is started under the tracer (default: python3)
  --python PATH            instead: a Python that has ipykernel
  --user                   write it into your own folder (default: beside the other kernel; of a Python, your own)
  --prefix DIR             write it below DIR/share/jupyter
  --name NAME              of the new kernel, also for uninstall (default: that of the other with -gpu-memtrace)

Exit status: 0; 1 there is no such kernel, or it cannot be written or removed; 2 wrong options.
`,
  sql: `gpu-memtrace sql DIR [QUERY] [options]

Queries the tables of a job's folder with your own DuckDB: the program duckdb on PATH, else the package of Python. QUERY is a statement on
the tables runs, ranks, steps, stacks, site_steps, allocations, events and findings, or the name of one that ships; without it
these are listed. Traces in DIR that have no tables yet get them first.

  --format table|csv       (default: table)
  --print duckdb|clickhouse|spark
                           print the statements for that engine (default: duckdb), and ask nobody

Exit status: 0; 1 there is no DuckDB, it refuses the statement, or DIR is no folder of a job; 2 wrong options.
`,
  doctor: `gpu-memtrace doctor [options]

Checks what this machine can record, and says how to get what is missing.

  --format table|json      (default: table)

Exit status: 0 recording is possible; 1 it is not; 2 wrong options.
`,
  mcp: `gpu-memtrace mcp

Serves the Model Context Protocol on stdin and stdout, for coding agents; nothing listens on a port. An agent's .mcp.json names it so:

  {"mcpServers": {"gpu-memory-trace": {"command": "gpu-memtrace", "args": ["mcp"]}}}

Its tools read live and saved traces. Before one pauses a program (find_holders) or runs one (run_traced) you are asked; where the agent's
client cannot ask, the agent must say that you agreed. What it runs ends with it.

Exit status: 0 when the client has gone, 128 + signal when a signal ended it; 2 wrong options.
`,
  attach: `gpu-memtrace attach PID [options]

Watches a running process that has loaded the CUDA driver, and the children that it forks. Nothing is loaded into
it: probes in the kernel see its calls. What it allocated before has no line. Ctrl+C detaches, and the program goes on
unharmed; at the end of the program tracing ends too. A terminal shows what leaks and what is alive, with keys to sort and
filter (q detaches too); elsewhere stderr gets a line when something is found. At the end it gets what "run" gives it.

Placing probes needs extra privileges: capabilities of the tracer's file (Linux 6.6 and newer; "gpu-memtrace doctor" prints
the line to type), or root (sudo).

Everyday:
${EVERYDAY}
Recording:
${RECORDING}
Jobs:
${JOBS}
Expert:
${EXPERT}  --native-stacks          record native stacks as well: where memory of C++ without Python comes from

Exit status: 0 after detaching, and when the program ended; 2 wrong options; 125 the tracer could not attach, or broke off.
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
    const goesOn = line.startsWith(' '.repeat(TEXT_COLUMN)) || (/^\S/.test(line) && /^\S/.test(before));
    const gap = /^\S|\S {2,}\S/.test(before) ? ' ' : '  '; // an option alone fills its line
    if (goesOn && before !== '') whole[whole.length - 1] = `${before}${gap}${line.trimStart()}`;
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
    lines.push(rest.slice(0, space));
    rest = indent + rest.slice(space + 1).trimStart();
  }
  return [...lines, rest];
}
