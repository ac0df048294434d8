/**
 * On-demand list prices in US dollars, without free tiers, volume discounts and savings plans. Copied by hand: check
 * them against the providers' pages before relying on a sum.
 */
export const PRICES = {
  region: 'us-east-1',
  date: '2026-01',
  /** Per million. */
  million: {
    apiGatewayRestRequests: 3.5,
    lambdaRequests: 0.2,
    dynamodbReadUnits: 0.125,
    dynamodbWriteUnits: 0.625,
    sqsRequests: 0.4,
    /** On top of a request to a standard queue that carries a message group (fair queues). */
    sqsFairSurcharge: 0.1,
    eventBridgeEvents: 1,
  },
  /** A GB for a month. */
  dynamodbStorageGb: 0.25,
  dynamodbRecoveryGb: 0.2,
  lambdaArmGbSecond: 0.000_013_333_4,
  cloudWatchLogsGb: 0.5,
  dataOutGb: 0.09,
} as const

/** Memory at which a Lambda function has one whole vCPU; with less it gets its share of one. */
export const VCPU_MEMORY_MB = 1_769
