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
  adminSignInFailures: { perSecond: 5 / (15 * 60), burst: 5 },

  pageDefault: 50,
  pageMax: 100,

  /** A bucket of 30 refilled by one every 2 seconds (decisions §5). */
  agentCallRate: { perSecond: 0.5, burst: 30 },
  messageCharacters: 8_000,
  attachmentsPerMessage: 10,
  chainDepth: 3,
  agentOutputCharacters: 16_000,
  agentErrorCharacters: 500,

  activeRuns: 5,
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
  botUpdateLock: 35 * SECOND,
  botUpdateLife: 2 * DAY,
  deliveryDeadline: 10 * SECOND,
  deliveryAnswerBytes: 64 * KIB,
  deliveryKeptBytes: KIB,
  secretOverlap: DAY,
  failuresToDisable: 5,
} as const
