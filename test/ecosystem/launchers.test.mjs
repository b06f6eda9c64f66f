// Jobs of four ranks on two machines, started as people start them, gather in one folder: by `gpu-memtrace run -o DIR/`, and by the
// package's variables alone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { cli, examples, installed, jobs, runPython, SIMULATED } from './installed.mjs';
import { die, missing, mpirun, onMachine, slurm, until } from './machines.mjs';

const MB = 1 << 20;
const STEPS = 60;
const place = installed({ beside: process.env.GMT_TORCH_PYTHON });
const job = join(jobs, 'rank.py');
const WAYS = ['gpu-memtrace run', "the package's variables"];

/** A launcher's words behind it and its environment: live traces are on each machine's own disk. `then`: the program. */
function started(way, folder, then, { ranks = '', python = place.python } = {}) {
  const recorded = way === WAYS[0];
  const flags = ['run', '--simulate-gpu', '--format', 'none', '-o', folder, ...(ranks ? ['--ranks', ranks] : []), '--'];
  const own = ['sh', '-c', 'export XDG_CACHE_HOME=$0/$(hostname); exec "$@"', join(place.folder, 'cache')];
  return {
    words: [...own, ...(recorded ? [process.execPath, cli, ...flags] : []), python, ...then],
    env: {
      ...SIMULATED,
      ...(recorded ? { PATH: process.env.PATH } : { GPU_MEMTRACE: '1', GPU_MEMTRACE_OUT: folder }),
      ...(!recorded && ranks ? { GPU_MEMTRACE_RANKS: ranks } : {}),
      ...{ HOME: place.folder, XDG_RUNTIME_DIR: '', PYTHONDONTWRITEBYTECODE: '1' },
    },
  };
}

/** The only folder that a job has made, by what its name begins with. */
function made(begin) {
  const names = readdirSync(place.folder).filter(name => name.startsWith(begin));
  assert.equal(names.length, 1, names.join());
  return join(place.folder, names[0]);
}

/** The job as `gpu-memtrace report DIR` tells it, with the summary of each rank. */
function reportOfJob(folder) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'report', folder, '--format', 'json'], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  assert.equal(status, 0, stderr);
  const told = JSON.parse(stdout);
  const summaries = told.ranks.map(({ rank, host, pid }) =>
    JSON.parse(readFileSync(join(folder, `run=${told.run}`, `rank=${rank}`, `summary.${host}-${pid}.json`), 'utf8')),
  );
  return { ...told, summaries };
}

/** What every rank has that came to its end: its own leak, and its own peak. */
function checkRank({ rank, steps, peakBytes, findings, lost, live }) {
  assert.deepEqual({ rank, steps, live, lost: lost.events }, { rank, steps: STEPS, live: false, lost: 0 });
  assert.equal(peakBytes, (16 + 2 * rank + ((1 + rank) * STEPS) / 4) * MB, `the peak of rank ${rank}`);
  const [leak] = findings.filter(({ verdict }) => verdict === 'leak');
  assert.equal(leak?.bytesPerStep, ((1 + rank) * MB) / 4, `the leak of rank ${rank}`);
  assert.equal(leak.function, 'train');
}

/** Four ranks, two on each machine, whole and right. */
function checkJob(folder, [one, other], run) {
  const told = reportOfJob(folder);
  const { summaries } = told;
  assert.deepEqual([told.worldSize, told.notes], [4, []]);
  assert.match(told.run, run);
  assert.deepEqual(
    summaries.map(({ rank, host, localRank, worldSize }) => [rank, host, localRank, worldSize]),
    [0, 1, 2, 3].map(rank => [rank, rank < 2 ? one : other, rank % 2, 4]),
  );
  for (const summary of summaries) {
    checkRank(summary);
    assert.ok(existsSync(join(folder, summary.trace)), `the trace of rank ${summary.rank}`);
  }
  assert.equal(readdirSync(join(folder, 'traces')).filter(name => !name.endsWith('.gputrace')).length, 0);
  return summaries;
}

const noSlurm = missing('munged', 'slurmctld', 'slurmd', 'srun');
describe('Slurm', { skip: noSlurm ?? false }, () => {
  let cluster;
  before(async () => {
    const folder = join(place.folder, 'slurm');
    mkdirSync(folder);
    cluster = await slurm(folder, ['n1', 'n2', 'n3'], SIMULATED);
  });
  after(() => cluster?.end());
  /** Its own environment goes in before the program's, as a job's script would set it. */
  const srun = (nodes, { words, env }) =>
    cluster.srun(nodes, ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...words]);

  WAYS.forEach((way, i) => {
    const dies = ['n2', 'n3'][i];
    test(`${way}: each rank is known and whole`, async () => {
      const wish = join(place.folder, `slurm-${i}-%j/`);
      const step = srun(['n1', dies], started(way, wish, [job]));
      assert.equal(await step.ended, 0, step.text);
      const folder = made(`slurm-${i}-`);
      checkJob(folder, ['n1', dies], new RegExp(`^job-${/\d+$/.exec(folder)[0]}$`));
    });

    test(`${way}: a machine that dies leaves its last copy`, async () => {
      const folder = join(place.folder, `dies-${i}`);
      const step = srun(['n1', dies], started(way, `${folder}/`, [job, 'stops', dies]));
      const traces = host =>
        existsSync(join(folder, 'traces'))
          ? readdirSync(join(folder, 'traces')).filter(name => name.startsWith(host) && name.endsWith('.gputrace'))
          : [];
      await until(() => traces('n1').length === 2 && traces(dies).length === 2);
      await die(cluster.machines.get(dies));
      step.child.kill('SIGKILL');
      const long = new Date(Date.now() - 3_600_000);
      for (const name of traces(dies)) utimesSync(join(folder, 'traces', name), long, long);
      for (let again = 0; again < 2; again++) {
        const { ranks, notes, summaries } = reportOfJob(folder);
        assert.deepEqual(
          ranks.map(({ host, steps, live }) => [host, steps, live]),
          [...[0, 1].map(() => ['n1', STEPS, false]), ...[0, 1].map(() => [dies, 41, true])],
        );
        summaries.slice(0, 2).forEach(checkRank);
        assert.deepEqual(
          notes.map(note => /\d+/.exec(note)?.[0]),
          ['2', '3'],
          notes.join('\n'),
        );
      }
    });

    test(`${way}: ranks that are not recorded in full take 50 MB, and have steps, lines and findings`, async () => {
      const folder = join(place.folder, `ranks-${i}`);
      const step = srun(['n1'], started(way, `${folder}/`, [job, 'busy'], { ranks: '0,7-9' }));
      assert.equal(await step.ended, 0, step.text);
      const taken = new Map([...step.text.matchAll(/^(\d+) (\d+)$/gm)].map(([, rank, bytes]) => [+rank, +bytes]));
      assert.ok(taken.get(0) > 55 * MB, `rank 0 takes ${taken.get(0)}`);
      assert.ok(taken.get(1) <= 50 * MB, `rank 1 takes ${taken.get(1)}`);
      reportOfJob(folder).summaries.forEach(checkRank);
    });
  });
});

describe('mpirun', { skip: missing('mpirun', 'nsenter') ?? false }, () => {
  WAYS.forEach((way, i) => {
    test(`${way}: each rank is known and whole`, async () => {
      const wish = join(place.folder, `mpirun-${i}-%j/`);
      const { words, env } = started(way, wish, [job]);
      const { status, text } = await mpirun(place.folder, ['m1', 'm2'], words, env);
      assert.equal(status, 0, text);
      checkJob(made(`mpirun-${i}-`), ['m1', 'm2'], /^job-\d+$/);
    });
  });
});

const noRay = process.env.GMT_RAY_PYTHON ? null : process.env.GMT_NO_RAY;
test("Ray Train, by the package's variables: each rank is known and whole", { skip: noRay ?? false }, async () => {
  const ray = installed({ beside: process.env.GMT_RAY_PYTHON });
  const { env } = started(WAYS[1], `${place.folder}/ray/`, []);
  // Nothing else of ours: a module of Ray could have the name.
  for (const file of [job, join(env.PYTHONPATH, 'gpu.py')]) copyFileSync(file, join(ray.folder, basename(file)));
  // Ray's token is in HOME.
  const own = { ...env, HOME: ray.folder, XDG_CACHE_HOME: join(ray.folder, 'cache'), PYTHONPATH: ray.folder };
  const words = [join(jobs, 'ray_train.py'), JSON.stringify(own)];
  const ran = runPython(ray, words, {}, { PATH: env.PATH, PYTHONPATH: '' });
  assert.equal(ran.status, 0, ran.stderr);
  const traces = join(place.folder, 'ray/traces');
  // Workers are ended from outside: their recorders save what there is.
  await until(() => readdirSync(traces).filter(name => name.endsWith('.gputrace')).length === 4);
  const { worldSize, notes, run, summaries } = reportOfJob(join(place.folder, 'ray'));
  assert.deepEqual([worldSize, notes, run], [4, [], 'job-01000000']);
  assert.deepEqual(
    summaries.map(({ rank, localRank, nodeRank }) => [rank, localRank, nodeRank]),
    [0, 1, 2, 3].map(rank => [rank, rank, 0]),
  );
  summaries.forEach(checkRank);
});

describe('torchrun', { skip: missing('sh') ?? false }, () => {
  WAYS.forEach((way, i) => {
    test(`${way}: each rank is known and whole, with its places in the mesh`, async () => {
      const folder = join(place.folder, `torchrun-${i}`);
      const endpoint = `127.0.0.1:${20_000 + ((process.pid + 500 + i) % 20_000)}`;
      const rendezvous = ['--rdzv-backend=c10d', `--rdzv-endpoint=${endpoint}`, '--rdzv-id=pretraining'];
      const flags = ['--nnodes=2', '--nproc-per-node=2', ...rendezvous];
      const programs = ['t1', 't2'].map((name, at) => {
        // Machines have addresses of their own: torchrun tells them apart by these and their processes' numbers.
        const torchrun = ['-m', 'torch.distributed.run', ...flags, `--local-addr=127.0.0.${at + 1}`, job, 'mesh'];
        const { words, env } = started(way, `${folder}/`, torchrun);
        return onMachine(name, words, { ...env, GLOO_SOCKET_IFNAME: 'lo', OMP_NUM_THREADS: '1' });
      });
      for (const program of programs) assert.equal(await program.ended, 0, program.text);
      // Who is the first machine is for the rendezvous to say.
      const [first] = reportOfJob(folder).ranks;
      const summaries = checkJob(folder, [first.host, first.host === 't1' ? 't2' : 't1'], /^pretraining$/);
      assert.deepEqual(
        summaries.map(({ mesh }) => mesh),
        [0, 1, 2, 3].map(rank => ({ pp: [0, 1], dp: [rank >> 1, 2], tp: [rank % 2, 2] })),
      );
    });
  });
});

const noKubernetes = missing('sh') ?? process.env.GMT_NO_KUBERNETES;
describe('Kubernetes, by the manifest', { skip: noKubernetes ?? false }, () => {
  const manifest = join(examples, 'kubernetes.yml');
  const python = process.env.GMT_KUBERNETES_PYTHON;

  test('its API takes it', () => {
    const validate = join(dirname(python), 'kubernetes-validate');
    const { status, stdout, stderr } = spawnSync(python, [validate, '--strict', manifest], { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });

  test('each rank is known and whole', async () => {
    const read = 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))';
    const documents = JSON.parse(spawnSync(python, ['-c', read, manifest], { encoding: 'utf8' }).stdout);
    const { metadata, spec } = documents.find(({ kind }) => kind === 'Job');
    const [container] = spec.template.spec.containers;
    const shared = join(place.folder, 'kubernetes');
    // What a cluster has and this machine has not: its volume, 8 GPUs a pod, names for its addresses, and the image's programs.
    const here = [
      ['/shared', shared],
      ['--nproc-per-node 8', '--nproc-per-node 2'],
      ['train-0.train', `127.0.0.1 --master-port ${20_000 + ((process.pid + 900) % 20_000)}`],
      [/^torchrun/, `${place.python} -m torch.distributed.run`],
      [/train\.py$/, `${job} mesh`],
    ];
    const onThis = text => here.reduce((all, [there, own]) => all.replace(there, own), text);
    const fields = { "metadata.labels['job-name']": metadata.name };
    const told = container.env.map(({ name, value, valueFrom }) => {
      return [name, onThis(value ?? fields[valueFrom.fieldRef.fieldPath])];
    });
    const { env } = started(WAYS[1], '', []);
    const pods = Array.from({ length: spec.completions }, (_, index) => {
      const own = { ...env, ...Object.fromEntries(told), JOB_COMPLETION_INDEX: String(index), OMP_NUM_THREADS: '1' };
      const cache = join(place.folder, `pod-${index}`);
      const words = [...container.command, ...container.args.map(onThis)];
      return onMachine(`${metadata.name}-${index}`, words, { ...own, XDG_CACHE_HOME: cache, GLOO_SOCKET_IFNAME: 'lo' });
    });
    for (const pod of pods) assert.equal(await pod.ended, 0, pod.text);
    checkJob(join(shared, 'run-train'), ['train-0', 'train-1'], /^train$/);
  });
});
