import { DAY, HOUR, MINUTE, SECOND } from './clock.ts'

const KIB = 1_024

/** The numbers of specification "Limits" and decisions §1, §2, §4, §6 in one place. Times in ms, sizes in bytes. */
export const LIMITS = {
  installationRate: { perSecond: 10, burst: 20 },
  appRate: { perSecond: 50, burst: 100 },
  callerRate: { perSecond: 10, burst: 40 },
  clientRate: { perSecond: 50, burst: 100 },
  addressFailureRate: { perSecond: 5, burst: 20 },
  testRunRate: { perSecond: 0.1, burst: 6 },
  checksRate: { perSecond: 1 / 6, burst: 10 },
  adminSignInFailures: { perSecond: 5 / (15 * 60), burst: 5 },

  pageDefault: 50,
  pageMax: 100,
  offsetMax: 10_000,

  /** A bucket of 30 refilled by one every 2 seconds (decisions §5). */
  agentCallRate: { perSecond: 0.5, burst: 30 },
  messageCharacters: 8_000,
  attachmentsPerMessage: 10,
  chainDepth: 3,
  agentOutputCharacters: 16_000,
  agentErrorCharacters: 500,

  activeRuns: 5,
  /** How long a developer’s listener counts after its last sign, and how often its stream gives one. */
  listenerLease: 15 * SECOND,
  listenerBeat: 5 * SECOND,
  /** A stream whose reader has gone occupies its function until its time is over: one more ends the oldest. */
  streamsPerCaller: 3,
  stepsPerRun: 200,
  stepsPerCall: 50,
  stepOutputBytes: 16 * KIB,
  stepOutputsPerRunBytes: 2 * KIB * KIB,
  runPayloadBytes: KIB * KIB,
  inlinePayloadBytes: 16 * KIB,
  manifestBytes: 256 * KIB,
  eventDataBytes: 64 * KIB,
  requestBodyBytes: 6 * KIB * KIB,
  fileTextBytes: KIB * KIB,
  fileBase64Bytes: 4 * KIB * KIB,
  fileUploadBytes: 100 * KIB * KIB,

  filesPerWorkspace: 100_000,
  fileBytesPerWorkspace: 5 * KIB * KIB * KIB,

  appsPerDeveloper: 20,
  keysPerAdmin: 20,
  webhooksPerInstallation: 20,
  redirectUrisPerApp: 20,
  toolsPerManifest: 100,

  accessTokenLife: 7_200 * SECOND,
  callbackTokenLife: 900 * SECOND,
  surfaceTokenLife: 5 * MINUTE,
  consoleSessionLife: 12 * HOUR,
  adminTokenLife: 8 * HOUR,
  refreshTokenLife: 90 * DAY,
  codeLife: 5 * MINUTE,
  consentLife: 10 * MINUTE,
  signInDataAge: 10 * MINUTE,
  signInDataAhead: MINUTE,
  signInDataBytes: 8 * KIB,
  invitationLife: 7 * DAY,
  /** In which the deletion of a workspace can be taken back. */
  workspaceGrace: 14 * DAY,
  idempotencyLife: 24 * HOUR,
  /** In which a rotated developer key still gets its rotation's lost answer. */
  keyRecovery: 10 * MINUTE,
  /** An upload has to begin within the first and is over by the second, counted from the file's creation. */
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
  /** One turn of a language model with its retries. */
  modelTurn: 2 * MINUTE,
  modelAnswerBytes: 4 * KIB * KIB,
  /** Tool calls that one turn may ask for. */
  callsPerTurn: 20,
  /** Times that the model may call tools where the manifest does not say. */
  inlineSteps: 10,
  /** What the model is shown of a tool’s result, in characters of its JSON text. */
  toolResultCharacters: 32_000,
  /** How long a worker that runs an inline agent counts as alive after its last sign, and how often it gives one. */
  inlineHold: MINUTE,
  inlineBeat: 15 * SECOND,
  /** After this a worker begins nothing more, and hands the run to the next. */
  inlineShift: 10 * MINUTE,
  /** Workers that may be lost over the same turn. */
  inlineTries: 3,
  approvalLife: DAY,
  testRunWait: 60 * SECOND,
  botDeadline: 8 * SECOND,
  /** Messenger accounts that the whole of a workspace sees. */
  messengerAccounts: 20,
  /** Telegram’s longest text, in characters. */
  messengerText: 4_096,
  /** What Telegram advises (core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this). */
  messengerChatRate: { perSecond: 1, burst: 3 },
  messengerBotRate: { perSecond: 30, burst: 30 },
  /** Within which a person’s chat may be answered in their name after its last incoming message. */
  businessReply: DAY,
  /** How long a worker has a message to itself, and for how long one is tried that reaches nobody. */
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
