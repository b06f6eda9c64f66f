// Machines of one machine, and launchers of jobs on them: Slurm and mpirun as Debian has them. Root alone can make them.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const there = program => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const NAMESPACES = ['--uts', '--pid', '--fork', '--kill-child', '--mount-proc'];

/** Why these programs cannot run on machines of our own, in a sentence; null: they can. */
export function missing(...programs) {
  const absent = programs.find(program => !there(program));
  if (absent) return `there is no ${absent} here`;
  return spawnSync('unshare', [...NAMESPACES, 'true']).status === 0 ? null : 'only root can make machines of one';
}

/** Waits for what will come. */
export async function until(condition) {
  for (const end = Date.now() + 120_000; !condition(); await pause(50))
    if (Date.now() > end) throw new Error(`Never came: ${condition}`);
}

/** A program on a machine with a name and processes of its own. Killed, all of them are, as when a machine dies. {child, ended, said} */
export function onMachine(name, words, env) {
  const command = ['sh', '-c', 'hostname "$0" && exec "$@"', name, ...words];
  const child = spawn('unshare', [...NAMESPACES, ...command], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const program = { child, text: '', ended: new Promise(done => child.once('exit', done)) };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', data => (program.text += data));
  return program;
}

/** Kills all that runs on it. */
export async function die({ child, ended }) {
  child.kill('SIGKILL');
  await ended;
}

/** mpirun with two processes on each of the named machines, which are there as long as it runs. {status, text} */
export async function mpirun(folder, names, words, env) {
  const machines = names.map(name => onMachine(name, ['sleep', 'infinity'], env));
  const firstOf = pid => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const enter = join(folder, 'enter');
  try {
    await until(() => machines.every(({ child }) => firstOf(child.pid) !== ''));
    const places = machines.map(({ child }, i) => `${names[i]}) pid=${firstOf(child.pid)};;`);
    const script = `#!/bin/sh\ncase $1 in ${places.join(' ')} esac\nshift\nexec nsenter --target $pid --uts --pid --mount sh -c "$*"\n`;
    writeFileSync(enter, script, { mode: 0o755 });
    const net = ['plm_rsh_agent', enter, 'oob_tcp_if_include', 'lo', 'btl_tcp_if_include', 'lo'];
    const flags = net.flatMap((word, i) => (i % 2 === 0 ? ['--mca', word] : [word]));
    const told = Object.keys(env).flatMap(name => ['-x', name]);
    const hosts = ['--host', names.map(name => `${name}:2`).join()];
    const { status, stdout, stderr } = spawnSync(
      'mpirun',
      ['--allow-run-as-root', ...flags, ...told, ...hosts, ...words],
      {
        env,
        encoding: 'utf8',
      },
    );
    return { status, text: stdout + stderr };
  } finally {
    await Promise.all(machines.map(die));
  }
}

/** A Slurm of its own, with a daemon on each of the named machines. {srun, machines, end} */
export async function slurm(folder, names, env) {
  const at = name => join(folder, name);
  const port = 20_000 + (process.pid % 20_000);
  mkdirSync(at('state'), { recursive: true });
  writeFileSync(at('munge.key'), randomBytes(128), { mode: 0o600 });
  const facts = {
    ...{ ClusterName: 'test', SlurmctldHost: `${hostname()}(127.0.0.1)`, SlurmctldPort: port, SlurmUser: 'root' },
    ...{ AuthInfo: `socket=${at('munge.socket')}`, StateSaveLocation: at('state'), SlurmdSpoolDir: at('%n') },
    ...{ SlurmctldPidFile: at('slurmctld.pid'), SlurmdPidFile: at('%n.pid'), SlurmdLogFile: at('%n.log') },
    ...{ ProctrackType: 'proctrack/pgid', TaskPlugin: 'task/none', JobAcctGatherType: 'jobacct_gather/none' },
    ...{ SelectType: 'select/cons_tres', SlurmdParameters: 'config_overrides', MpiDefault: 'none' },
  };
  const nodes = names.map(
    (name, i) => `NodeName=${name} NodeHostname=${name} NodeAddr=127.0.0.1 Port=${port + 1 + i} CPUs=4`,
  );
  const lines = Object.entries(facts).map(([name, value]) => `${name}=${value}`);
  const partition = `PartitionName=all Nodes=${names.join()} Default=YES State=UP`;
  writeFileSync(at('slurm.conf'), [...lines, ...nodes, partition, ''].join('\n'));
  const own = { ...env, SLURM_CONF: at('slurm.conf') };
  const files = ['key', 'socket', 'pid', 'log', 'seed'].map(one => {
    const option = { pid: 'pid-file', log: 'log-file', key: 'key-file', seed: 'seed-file' }[one] ?? one;
    return `--${option}=${at(`munge.${one}`)}`;
  });
  const munge = spawn('munged', ['--foreground', '--force', ...files], { stdio: 'ignore' });
  await until(() => spawnSync('munge', ['-n', '-S', at('munge.socket')]).status === 0);
  const control = spawn('slurmctld', ['-D'], { env: own, stdio: 'ignore' });
  const machines = new Map(names.map(name => [name, onMachine(name, ['slurmd', '-D', '-N', name], own)]));
  const idle = () => spawnSync('sinfo', ['-h', '-o', '%t %D'], { env: own, encoding: 'utf8' }).stdout.trim();
  await until(() => idle() === `idle ${names.length}`);
  return {
    machines,
    /** Two tasks on each of these nodes; what runs on goes on where a node dies. */
    srun: (on, words) => {
      const flags = ['--no-kill', '--kill-on-bad-exit=0', '--nodelist', on.join(), `--nodes=${on.length}`];
      const child = spawn('srun', [...flags, '--ntasks-per-node=2', ...words], {
        env: own,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const job = { child, text: '', ended: new Promise(done => child.once('exit', done)) };
      for (const stream of [child.stdout, child.stderr]) stream.on('data', data => (job.text += data));
      return job;
    },
    end: async () => {
      await Promise.all([...machines.values()].map(die));
      for (const child of [control, munge]) child.kill('SIGKILL');
    },
  };
}
