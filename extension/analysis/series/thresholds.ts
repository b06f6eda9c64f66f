/**
 * Every threshold of the verdicts, in one table. A series has one value at the end of each training step. "Old" memory is
 * what outlived at least one whole step after the one in which it was allocated: it leaves out activations, gradients and
 * batches, whose size may vary as it likes. An "event" is a step after which there was more old memory than before it.
 */
export const THRESHOLDS = {
  // Warm-up: what allocators, optimizers, libraries and graph captures do in the first steps says nothing of the later.
  /** Steps whose allocations are not looked at. */
  warmupSteps: 3,
  /** Steps that are the present. */
  recentSteps: 20,

  // Growing: records.
  /** How often chance alone may make as many records: it takes at least `fewestRecords`, for 1/6! is below it. */
  recordsLevel: 0.002,
  fewestRecords: 6,
  /**
   * Growth has stopped after so many of its usual distances where they are equal. Where they come by chance, n of them have one longer than
   * ln n + 4.6 mean ones in one run of a hundred.
   */
  silentGaps: 1.6,
  silentRecords: 3,
  silentSteps: 3,
  /** Laplace's score below which records thin out. */
  thinningRecords: 2.5,
  /** What falls has to grow by more than so many times the deepest fall. */
  fallExcess: 2,
  /** Standard deviations of a walk by chance that a level must have risen by, where blocks leave as well. */
  drift: 3.5,

  /** Confidence is 1 - exp(-events / this): 8 events 0.74, 20 events 0.96. */
  confidenceEvents: 6,
  /** Least confidence of a leak that fails a run (--fail-on-leak). */
  failConfidence: 0.5,

  // Growing in size at one line: as many blocks as before, each time bigger.
  /** Blocks may vary in number by this share (and by one); falls may take back this share of the rises: a cache hands out a
   * bigger block now and then, where cutting one is not worth it. */
  sizeCountShare: 0.1,
  sizeFalls: 0.3,
  /** Most bytes that an allocator adds to a block (PyTorch: kSmallSize, the rest that it does not cut off a large block). */
  slackBytes: 1 << 20,
  /** When so many of the lines that work in each step allocate more and more, the inputs get longer: no leak. */
  inputLines: 0.3,

  // What must hold for all sites.
  /** Slices of time that growth must have lasted, and its events, where no steps are known: setting up takes many slices. */
  timeSlices: 160,
  timeEvents: 40,
  timeConfidence: 0.6,
  /** What belongs to the model and its optimizer grows by layers: so many times the events. */
  stateEvents: 3,
  /** Parameters that rise without gradients and optimizer state are no layers but copies of them: so many times the events. */
  copyEvents: 1.25,
  /** Gradients and optimizer state rise with parameters that rise for training, by at least this share of their bytes. */
  trainedShare: 0.25,
  /** Lost events that no step is known for: above this share nothing is said to grow; below, confidence is multiplied. */
  lostShare: 0.01,
  lostConfidence: 0.8,

  // Collector: cycles wait for it when this share of what was freed late was freed inside a collection.
  collectedShare: 0.5,

  // Anomaly: one allocation so many robust deviations and times above the line's median, at least so big, this rare.
  anomalyDeviations: 8,
  anomalyTimes: 4,
  anomalyBytes: 1 << 20,
  anomalyShare: 0.02,
  /** Steps in which the line must have worked to have a habit. */
  anomalySteps: 10,
  /** Of these, the first that are warm-up. */
  anomalyWarmUp: 2,

  // Findings: survivors of the same steps.
  /** Share of the steps with survivors that two sites have in common, and difference of their first rises (in rises). */
  sameCauseShare: 0.8,
  sameCauseSteps: 3,
  /** Of a site's blocks that the agent names, so many and this share must hang on one holder to be divided by it. */
  holderShare: 0.5,
  holderBlocks: 3,
  /** Sites of one finding from which on, without a word of the agent, it is a graph. */
  graphSites: 3,

  // Ledger: growth of a layer beyond the layer inside it.
  /** Least share of the layer that it must have grown by, and fewest bytes. */
  layerGrowth: 0.05,
  layerBytes: 32 << 20,
  /** Share of the driver's growth that must be missing in the tensors to be fragmentation. */
  fragmentedShare: 0.5,

  // Memory that waits for a stream. Some always does where streams overlap: what a prefetch or a collective of the last step
  // used. A fifth of the cache is more than these take, and could hold the next step's tensors instead.
  pendingShare: 0.2,
  /** So many readings in a row: one slow step (a checkpoint, the first collective) gives one or two. */
  pendingReadings: 6,
  /** Of these, the share that may tell of less: a reading just behind a synchronisation finds nothing. */
  pendingGaps: 0.2,
  /** So many of the newest distances between readings tell how far apart they are to be. */
  pendingDistances: 8,

  // A leak, or something that fills, where who holds it does not tell.
  /** Rises: more entries than caches, windows and replay buffers mostly have that fill while somebody waits. */
  mostRises: 256,
  /** ... where some are taken out all the time, and more come in: a queue that is fed faster than it is emptied. */
  freedRises: 64,
  /** ... at the end of a program that takes things out in some case, which never came. */
  endedRises: 100,
  /** Share of the device: nobody lets a cache have more. */
  filledShare: 0.25,

  /** A leak that fills the device in more than so many seconds, which is a year, never matters. */
  neverSeconds: 31_536_000,
  /** Newest steps whose pace tells how long that takes. */
  paceSteps: 64,

  // Who holds a leak: the program is asked by itself.
  /**
   * It may stand still for this share of the time that it has run, once for each leak for at most so long; a look takes 60 to 130 ms where
   * PyTorch and a library of models are loaded.
   */
  askShare: 0.1,
  askMostMs: 500,
  askLeastMs: 100,

  // The end of a run.
  /**
   * It is shown as long as it holds this share of what the last step left alive: a model and its optimizer keep more than a quarter
   * where gradients and a cache go, and less is left where the function returned that had them.
   */
  endShare: 0.25,

  // Out of memory.
  /** A leak of this share of what is alive led to it. */
  oomLeakShare: 0.2,
  /** Without a verdict yet: one line with this share, in blocks of at least every second step, half of the run ago. */
  oomGatheredShare: 0.5,
  /** Lines listed; a line is new in a step when it took this much more than usual. */
  oomLines: 10,
  oomNewShare: 0.5,
  /** A request above this share of the device, or this many times the site's habit, is one big request. */
  bigRequestShare: 0.4,
  bigRequestTimes: 4,
  /** Unused cache of this share of what was asked for would have been enough: fragmentation. */
  oomUnusedShare: 1,
  /** Other processes hold more than this share of the device. */
  oomOthersShare: 0.3,
} as const;
