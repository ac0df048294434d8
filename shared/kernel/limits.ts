import { DAY, HOUR, MINUTE, SECOND } from './clock.ts'

const KIB = 1_024

/** Limits of the contract (contract/limits.md). Times in ms, sizes in bytes. */
export const LIMITS = {
  installationRate: { perSecond: 10, burst: 20 },
  appRate: { perSecond: 50, burst: 100 },
  /**
   * Runs that requests wait for, of an app over all installations. If its agent takes all of its 30 seconds, they hold at most 225
   * executions, of the 250 for requests that wait.
   */
  waitedRunRate: { perSecond: 5, burst: 75 },
  callerRate: { perSecond: 10, burst: 40 },
  clientRate: { perSecond: 50, burst: 100 },
  addressFailureRate: { perSecond: 5, burst: 20 },
  /** Requests that leave one sandbox, and that leave all sandboxes for one host. */
  sandboxEgressRate: { perSecond: 2, burst: 120 },
  sandboxHostRate: { perSecond: 10, burst: 240 },
  testRunRate: { perSecond: 0.1, burst: 6 },
  checksRate: { perSecond: 1 / 6, burst: 10 },
  adminSignInFailures: { perSecond: 5 / (15 * 60), burst: 5 },

  pageDefault: 50,
  pageMax: 100,
  offsetMax: 10_000,

  /** A bucket of 30, refilled by one every 2 seconds (contract/agent-to-agent.md#admission). */
  agentCallRate: { perSecond: 0.5, burst: 30 },
  messageCharacters: 8_000,
  attachmentsPerMessage: 10,
  chainDepth: 3,
  /** Time after the first run of a chain in which the chain may start further runs. */
  chainLife: DAY,
  agentOutputCharacters: 16_000,
  agentErrorCharacters: 500,

  activeRuns: 5,
  /** Largest `wait` of a request that starts a run. */
  runWaitSeconds: 60,
  /** Lease of a developer’s listener, and the interval at which its stream renews it. */
  listenerLease: 15 * SECOND,
  listenerBeat: 5 * SECOND,
  /** Opening one more ends the oldest, because a stream occupies its function even after its reader disconnects. */
  streamsPerCaller: 3,
  /**
   * Silence after which every response that a client waits for gets a sign of life. Common clients give up after 5 seconds (httpx)
   * or 10 (OkHttp), proxies after 30, and the edge after 120.
   */
  streamSilence: 4 * SECOND,
  /** Live connections of a person in a workspace. A page beyond them polls. */
  liveConnectionsPerPerson: 20,
  /** Live connections that a person begins. Each costs writes, so the bucket of a connection isn't enough. */
  liveStartRate: { perSecond: 1 / 3, burst: 60 },
  /** Live connections that a source address begins, with or without a token. */
  liveAddressRate: { perSecond: 2, burst: 120 },
  liveMessageBytes: 4 * KIB,
  /** Messages of one live connection. A page sends one when it opens and one per heartbeat. */
  liveMessageRate: { perSecond: 1 / 30, burst: 5 },
  /** API Gateway ends a connection after two hours. */
  liveConnectionLife: 2 * HOUR + 10 * MINUTE,
  stepsPerRun: 200,
  stepsPerCall: 50,
  stepOutputBytes: 16 * KIB,
  stepOutputsPerRunBytes: 2 * KIB * KIB,
  runPayloadBytes: KIB * KIB,
  inlinePayloadBytes: 16 * KIB,
  manifestBytes: 256 * KIB,
  agentCardBytes: 256 * KIB,
  eventDataBytes: 64 * KIB,
  requestBodyBytes: 6 * KIB * KIB,
  bodyBytes: 256 * KIB,
  anonymousBodyBytes: 8 * KIB,
  fileTextBytes: KIB * KIB,
  fileBase64Bytes: 4 * KIB * KIB,
  fileUploadBytes: 100 * KIB * KIB,
  /** Largest image of which lists show a small picture. */
  thumbnailBytes: 2 * KIB * KIB,

  filesPerWorkspace: 100_000,
  fileBytesPerWorkspace: 5 * KIB * KIB * KIB,
  fileBytesPerSandbox: 250 * KIB * KIB,

  appsPerDeveloper: 20,
  keysPerAdmin: 20,
  passkeysPerAccount: 10,
  keysPerDeveloper: 20,
  /** Body of a request or response of a run in a sandbox that its developer can read. */
  exchangeBodyBytes: 16 * KIB,
  exchangesPerRun: 50,
  /** Teammates of a developer account, invited ones included. */
  membersPerDeveloper: 10,
  /** Browser sessions of one person in a developer account. A further sign-in ends the oldest. */
  sessionsPerDeveloper: 10,
  /** Browser sessions of a developer account. Blocking ends all of its keys in one transaction of 100 writes. */
  sessionsPerDeveloperAccount: 40,
  developerSessionLife: 12 * HOUR,
  /** E-mails that an account gets: 5 at once, one more every 12 minutes. */
  developerMailRate: { perSecond: 1 / 720, burst: 5 },
  /** Codes that a person gets by e-mail, and codes to one address: 5 at once, one more every 12 minutes. */
  personMailRate: { perSecond: 1 / 720, burst: 5 },
  emailTokenLife: HOUR,
  webhooksPerInstallation: 20,
  /** Active schedules. */
  schedulesPerInstallation: 100,
  schedulesPerWorkspace: 1_000,
  /** Failures in a row that pause a schedule. */
  scheduleFailures: 5,
  /** Lateness from which an occurrence counts as missed, and from which it is never made up. */
  scheduleMissed: 5 * MINUTE,
  scheduleMadeUp: HOUR,
  redirectUrisPerApp: 20,
  toolsPerManifest: 100,
  schedulesPerManifest: 20,

  accessTokenLife: 7_200 * SECOND,
  personTokenLife: 3_600 * SECOND,
  callbackTokenLife: 900 * SECOND,
  surfaceTokenLife: 5 * MINUTE,
  consoleSessionLife: 12 * HOUR,
  adminTokenLife: 8 * HOUR,
  /** Period after a password in which an admin must present their passkey. */
  adminSignInLife: 10 * MINUTE,
  /** Period after a confirmation in which sensitive actions don’t ask for another one. */
  confirmationLife: 10 * MINUTE,
  passkeyChallengeLife: 5 * MINUTE,
  refreshTokenLife: 90 * DAY,
  codeLife: 5 * MINUTE,
  /** Codes and refresh tokens of people's hosts, and the longest life of such a grant. */
  hostCodeLife: MINUTE,
  hostRefreshLife: 30 * DAY,
  hostGrantLife: 180 * DAY,
  /** Period in which a host that lost the answer to a refresh gets it again. */
  hostRefreshRepeat: 30 * SECOND,
  /** Period after its last use for which a host's registration is kept. */
  hostRegistrationLife: 90 * DAY,
  /** Readings of hosts' documents and keys that one source address causes, and those of one host: 10 a minute each. */
  hostDocumentRate: { perSecond: 1 / 6, burst: 10 },
  /** Readings at one domain: 60 a minute for hosts that people have used, and 60 for others. */
  domainDocumentRate: { perSecond: 1, burst: 60 },
  pushedRequestLife: 90 * SECOND,
  consentLife: 10 * MINUTE,
  signInDataAge: 10 * MINUTE,
  signInDataAhead: MINUTE,
  signInDataBytes: 8 * KIB,
  invitationLife: 7 * DAY,
  /** Period in which the deletion of a workspace can be undone. */
  workspaceGrace: 14 * DAY,
  idempotencyLife: 24 * HOUR,
  /** Period in which a rotated developer key can still recover the lost response of its rotation. */
  keyRecovery: 10 * MINUTE,
  /** From the file's creation, an upload must start within the first and end within the second. */
  uploadAddressLife: 15 * MINUTE,
  uploadEnd: HOUR,
  pendingFileLife: DAY,
  downloadAddressLife: 5 * MINUTE,
  eventLife: 30 * DAY,
  deliveryLife: 30 * DAY,
  appLogLife: 30 * DAY,
  auditLife: 2 * 365 * DAY,

  agentAnswer: 30 * SECOND,
  agentLifeSign: 45 * SECOND,
  agentSilence: HOUR,
  /** Time to read or cancel a task of an outside A2A agent. */
  outsideRead: 10 * SECOND,
  /** Time without a good read of an outside agent's task until its run fails. */
  outsideSilence: 10 * MINUTE,
  /** Attempts to cancel an outside agent's task. */
  outsideCancels: 3,
  /** Most attempts to send a run that a manifest can declare. */
  agentAttempts: 5,
  /** One turn of a language model, including retries. */
  modelTurn: 2 * MINUTE,
  modelAnswerBytes: 4 * KIB * KIB,
  /** Wait from the first words of an answer to their first draft, and from one draft to the next: it grows. */
  draftFirst: 100,
  draftShortest: 300,
  draftLongest: SECOND,
  draftCharacters: 10_000,
  /** Most tool calls in one turn. */
  callsPerTurn: 20,
  /** Turns with tool calls, unless the manifest sets its own number. */
  inlineSteps: 10,
  /** Characters of a tool result’s JSON text that the model gets. */
  toolResultCharacters: 32_000,
  /** Lease of a worker that runs an inline agent, and the interval at which it renews it. */
  inlineHold: MINUTE,
  inlineBeat: 15 * SECOND,
  /** After this time a worker starts no new turn and hands the run to another worker. */
  inlineShift: 10 * MINUTE,
  /** Workers that may fail on the same turn before the run fails. */
  inlineTries: 3,
  approvalLife: DAY,
  /** Runs of an installation that wait for answers, besides its active ones. */
  waitingRuns: 50,
  /** Time to answer a question, and for a caller over MCP. */
  inputLife: DAY,
  inputLifeMcp: 10 * MINUTE,
  questionsPerCall: 10,
  /** Steps of a run with unanswered questions. */
  pendingInputs: 10,
  questionCharacters: 4_000,
  answerCharacters: 8_000,
  /** Longest reason of a call that a person has to approve. */
  reasonCharacters: 500,
  fieldsPerQuestion: 50,
  questionBytes: 256 * KIB,
  testRunWait: 60 * SECOND,
  /** Longest wait for an agent in one call. Five seconds less than the edge waits for an answer's first byte. */
  agentWait: 115 * SECOND,
  botDeadline: 8 * SECOND,
  /** Messenger accounts shared by a whole workspace. */
  messengerAccounts: 20,
  /** Telegram’s longest message text, in characters. */
  messengerText: 4_096,
  /** Rates that Telegram advises (core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this). */
  messengerChatRate: { perSecond: 1, burst: 3 },
  messengerBotRate: { perSecond: 30, burst: 30 },
  /** Runs of an inline agent a day, for one contact and for all contacts of an installation. */
  contactRunsPerDay: 50,
  outsiderRunsPerDay: 1_000,
  /** Period after a thread’s last incoming message in which it may be answered in a person’s name. */
  businessReply: DAY,
  /** Lease of a worker on a message, and the period for which an undeliverable message is retried. */
  messengerLease: 30 * SECOND,
  messengerPatience: HOUR,
  botUpdateLock: 35 * SECOND,
  botUpdateLife: 2 * DAY,
  deliveryDeadline: 10 * SECOND,
  deliveryAnswerBytes: 64 * KIB,
  deliveryKeptBytes: KIB,
  secretOverlap: DAY,
  failuresToDisable: 5,
} as const

/**
 * Rates of requests without credentials, by what they cost: per source address, and of the whole stage, which bounds
 * what many addresses do together (contract/general.md#anonymous-requests).
 */
export const ANONYMOUS_RATES = {
  /** Creates an account, or sends an e-mail. */
  register: { address: { perSecond: 10 / 3_600, burst: 5 }, stage: { perSecond: 1, burst: 60 } },
  /** Stores a consent request. */
  authorize: { address: { perSecond: 1, burst: 20 }, stage: { perSecond: 50, burst: 200 } },
  signIn: { address: { perSecond: 1, burst: 20 }, stage: { perSecond: 50, burst: 200 } },
  /** Registers a host. */
  registerHost: { address: { perSecond: 20 / 3_600, burst: 20 }, stage: { perSecond: 1, burst: 120 } },
  /** Token requests of hosts, which are public clients: one provider serves many people from few addresses. */
  hostTokens: { address: { perSecond: 20, burst: 200 }, stage: { perSecond: 200, burst: 800 } },
  /** Stores nothing. */
  read: { address: { perSecond: 5, burst: 50 }, stage: { perSecond: 200, burst: 800 } },
} as const
