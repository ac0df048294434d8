/** One Lambda function of the template. */
export interface FunctionModel {
  /** Short name: the bundle's folder under `functions/`, else the logical id. */
  name: string
  logicalId: string
  /** Value of `AWS_LAMBDA_FUNCTION_NAME`. */
  functionName: string
  arn: string
  /** Folder that holds the built bundle. */
  directory: string
  /** Handler in `index.handler` notation. */
  handler: string
  environment: Record<string, string>
  timeoutSeconds: number
  memoryMb: number
}

/** One route: a resource of the REST API with its methods. */
export interface ResourceModel {
  id: string
  /** Path in API Gateway's notation, e.g. `/v1/things/{id}` or `/{proxy+}`. */
  path: string
  methods: Map<string, MethodModel>
}

export interface MethodModel {
  /** `undefined` for a mock integration. */
  functionArn: string | undefined
  /** True for `responseTransferMode: STREAM`. */
  streamed: boolean
  /** Integration timeout; 29 s unless the template says otherwise, 15 minutes for streamed routes. */
  timeoutMs: number
}

export interface GatewayResponseModel {
  statusCode: number | undefined
  headers: Record<string, string>
  templates: Record<string, string>
}

export interface ApiModel {
  id: string
  stage: string
  /** The API's address in the template. The local API has a different one. */
  url: string
  binaryMediaTypes: string[]
  resources: ResourceModel[]
  /** Gateway responses by type, e.g. `DEFAULT_4XX`. */
  gatewayResponses: Map<string, GatewayResponseModel>
}

/** The WebSocket API. */
export interface SocketsModel {
  id: string
  stage: string
  /** The API's address in the template. The local API has a different one. */
  url: string
  /** Functions by route key, such as `$connect`. */
  routes: Map<string, string>
}

/** Properties in CloudFormation's format, passed to CreateTable nearly unchanged. */
export interface TableModel {
  name: string
  streamArn: string
  properties: Record<string, unknown>
  ttlAttribute: string | undefined
}

export interface QueueModel {
  name: string
  arn: string
  visibilitySeconds: number
  retentionSeconds: number
  delaySeconds: number
  redrive: { targetArn: string; maxReceives: number } | undefined
}

export interface RuleModel {
  name: string
  bus: string
  pattern: unknown
  targets: RuleTarget[]
}

export interface RuleTarget {
  arn: string
  /** Constant input as JSON text. */
  input?: string
  /** JSON path such as `$.detail`. */
  inputPath?: string
  transformer?: { paths: Record<string, string>; template: string }
  messageGroupId?: string
  deadLetterArn?: string
}

export interface ScheduleModel {
  name: string
  everyMs: number
  /** ARN of a function or a queue. */
  targetArn: string
  input: string | undefined
}

export interface SecretModel {
  arn: string
  name: string
  /** `GenerateSecretString` of the template. */
  generate: Record<string, unknown> | undefined
  value: string | undefined
}

export interface AlarmModel {
  name: string
  description: string
  namespace: string
  metricName: string
  dimensions: Record<string, string>
  statistic: string
  /** In seconds. */
  period: number
  evaluationPeriods: number
  /** Number of breaching periods that raise the alarm. */
  datapointsToAlarm: number
  threshold: number
  comparison: string
  /** Treatment of a period without values. */
  missing: string
  /** Set for an alarm over more than one metric. The metric fields above then describe the first one. */
  expression?: { id: string; text: string; metrics: (AlarmMetric & { id: string; label?: string })[] }
  /** Set for an alarm that is on while all of these alarms are. It has no metric. */
  all?: string[]
}

export interface AlarmMetric {
  namespace: string
  name: string
  dimensions: Record<string, string>
  statistic: string
  period: number
}

export interface BucketModel {
  name: string
  cors: { methods: string[]; origins: string[]; headers: string[]; exposed: string[] }[]
}

interface SourceModel {
  id: string
  functionArn: string
  batchSize: number
  windowMs: number
  reportItemFailures: boolean
}

export interface StreamSourceModel extends SourceModel {
  kind: 'stream'
  streamArn: string
  /** JSON patterns, any of which lets a record pass; an empty list lets all pass. */
  filters: unknown[]
  bisect: boolean
  /** -1: until the record expires. */
  maxRetries: number
  maxAgeSeconds: number
  onFailureArn: string | undefined
  fromStart: boolean
}

export interface QueueSourceModel extends SourceModel {
  kind: 'queue'
  queueArn: string
  maxConcurrency: number
}

/** The parts of the deployed stack that the local run needs. */
export interface LocalModel {
  functions: FunctionModel[]
  api: ApiModel | undefined
  sockets: SocketsModel | undefined
  tables: TableModel[]
  queues: QueueModel[]
  buses: string[]
  rules: RuleModel[]
  schedules: ScheduleModel[]
  secrets: SecretModel[]
  buckets: BucketModel[]
  streamSources: StreamSourceModel[]
  queueSources: QueueSourceModel[]
  alarms: AlarmModel[]
}
