/** One Lambda function of the template. */
export interface FunctionModel {
  /** Short name: the bundle's folder under `functions/`, else the logical id. */
  name: string
  logicalId: string
  /** What `AWS_LAMBDA_FUNCTION_NAME` says. */
  functionName: string
  arn: string
  /** Folder that holds the built bundle. */
  directory: string
  /** `index.handler` style. */
  handler: string
  environment: Record<string, string>
  timeoutSeconds: number
  memoryMb: number
}

/** One route: a resource of the REST API with its methods. */
export interface ResourceModel {
  id: string
  /** As API Gateway writes it, e.g. `/v1/things/{id}` or `/{proxy+}`. */
  path: string
  methods: Map<string, MethodModel>
}

export interface MethodModel {
  /** `undefined` for a mock integration. */
  functionArn: string | undefined
  /** `responseTransferMode: STREAM`. */
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
  /** The address that the template gives the API; what runs locally has another. */
  url: string
  binaryMediaTypes: string[]
  resources: ResourceModel[]
  /** By response type, e.g. `DEFAULT_4XX`. */
  gatewayResponses: Map<string, GatewayResponseModel>
}

/** Properties as CloudFormation has them; handed to CreateTable nearly unchanged. */
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
  /** Constant input, JSON text. */
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
  /** A function or a queue. */
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
  /** Seconds. */
  period: number
  evaluationPeriods: number
  /** So many of them breach. */
  datapointsToAlarm: number
  threshold: number
  comparison: string
  /** What a period without values counts as. */
  missing: string
  /** Of an alarm over more than one metric; what it says of a metric above is of the first then. */
  expression?: { id: string; text: string; metrics: (AlarmMetric & { id: string })[] }
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
  /** JSON patterns, any of which lets a record through; none lets all through. */
  filters: unknown[]
}

export interface StreamSourceModel extends SourceModel {
  kind: 'stream'
  streamArn: string
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

/** What the local run needs to know of the deployed stack. */
export interface LocalModel {
  functions: FunctionModel[]
  api: ApiModel | undefined
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
