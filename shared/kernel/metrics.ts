/** Returns the CloudWatch namespace of a stage's own metrics. One account can hold several stages. */
export const metricsNamespace = (stage: string): string => `Platform/${stage}`

/** Metrics of a sweep that found something, under {@link SWEEP_DIMENSIONS}. */
export const SWEEP_METRICS = { failed: 'OverdueFailed', oldest: 'OverdueOldest' } as const

/** Field of a sweep's line. */
export const SWEEP_FOUND = 'OverdueFound'

export const SWEEP_DIMENSIONS = { worker: 'sweeper' } as const

/** Metric of responses with a 429, under the dimension `Group` of the endpoint. Written for those only. */
export const THROTTLED = 'Throttled'

/** Metric of a version's responses with a 5xx, under the dimensions `Function` and `Version`. Written for those only. */
export const VERSION_ERRORS = 'VersionErrors'

/** Metric of invocations that failed, without dimensions, counted from the lines that Lambda logs about them. */
export const FAILED_INVOCATIONS = 'FailedInvocations'

/** Metric of invocations that took almost as long as Lambda lets them, without dimensions. Written for those only. */
export const LONG_INVOCATIONS = 'LongInvocations'

/** Kinds of servers that the platform calls. Calls to all servers of a kind are measured together. */
export const CALLEE_KINDS = ['webhook', 'agent', 'model'] as const
export type CalleeKind = (typeof CALLEE_KINDS)[number]

/** Metric of each call, under the dimension {@link CALLEE_DIMENSION}: 1 without a response, otherwise 0. */
export const NO_ANSWER = 'NoAnswer'
export const CALLEE_DIMENSION = 'Called'
