/**
 * On-demand list prices in US dollars, without free tiers, volume discounts and savings plans. Copied by hand: check
 * them against the providers' pages before relying on a sum.
 */
export const PRICES = {
  region: 'us-east-1',
  date: '2026-01',
  /** Prices per million. */
  million: {
    apiGatewayRestRequests: 3.5,
    lambdaRequests: 0.2,
    dynamodbReadUnits: 0.125,
    dynamodbWriteUnits: 0.625,
    sqsRequests: 0.4,
    /** Surcharge on requests to a standard queue with a message group (fair queues). */
    sqsFairSurcharge: 0.1,
    eventBridgeEvents: 1,
    webAclRequests: 0.6,
    /** Messages of up to 32 KB through a WebSocket API, and minutes of its connections. */
    webSocketMessages: 1,
    webSocketMinutes: 0.25,
    traces: 5,
    secretReads: 5,
    /** Metrics that GetMetricData returns. */
    metricReads: 10,
    cloudFrontHttpsRequests: 1,
    cloudFrontFunctionInvocations: 0.1,
    lambdaEdgeRequests: 0.6,
  },
  /** Prices per piece and month. */
  month: {
    secret: 0.4,
    alarmMetric: 0.1,
    compositeAlarm: 0.5,
    dashboard: 3,
    customMetric: 0.3,
    webAcl: 5,
    webAclRule: 1,
    hostedZone: 0.5,
  },
  /** Prices per gigabyte, ingested or stored for a month. */
  gigabyte: {
    logsIn: 0.5,
    logsKept: 0.03,
    objectsKept: 0.023,
    backupsKept: 0.1,
    bucketBackupsKept: 0.05,
    recordsKept: 0.25,
  },
  /** Price of provisioned concurrency per GB-second. */
  provisionedArmGbSecond: 0.000_003_333_4,
  /** Prices of a provisioned unit a second, per hour. */
  dynamodbProvisioned: { writeUnitHour: 0.000_65, readUnitHour: 0.000_13 },
  /** Price per GB and month. */
  dynamodbRecoveryGb: 0.2,
  lambdaArmGbSecond: 0.000_013_333_4,
  cloudWatchLogsGb: 0.5,
  dataOutGb: 0.09,
} as const

/** Memory at which a Lambda function has one whole vCPU. With less it gets a share. */
export const VCPU_MEMORY_MB = 1_769
