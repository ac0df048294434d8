import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import type { LogIds } from '../adapters/logger.ts'

export type Environment = Record<string, string | undefined>

/** Reads the id of X-Ray's trace: `Root=1-…;Parent=…;Sampled=1`. Lambda sets the variable for each invocation. */
const traceId = (environment: Environment): string | undefined =>
  /Root=([\w-]+)/.exec(environment._X_AMZN_TRACE_ID ?? '')?.[1]

/** Returns the ids of an invocation: those of Lambda, of X-Ray, and of the gateway's access log. */
export const invocationIds = (
  context: Pick<Context, 'awsRequestId'> | undefined,
  event: unknown,
  environment: Environment,
): LogIds => {
  const gateway = (event as Partial<APIGatewayProxyEvent> | null)?.requestContext?.requestId
  const trace = traceId(environment)
  return {
    ...(context && { lambda_request_id: context.awsRequestId }),
    ...(typeof gateway === 'string' && { gateway_request_id: gateway }),
    ...(trace !== undefined && { xray_trace_id: trace }),
  }
}

const RUN = /^run_\w+$/

/** Returns the run that a request's path names. */
export const pathIds = (params: Readonly<Record<string, string>>): LogIds => {
  const run = Object.values(params).find((value) => RUN.test(value))
  return run === undefined ? {} : { run_id: run }
}

/** Returns the ids that a queue's message names. */
export const messageIds = (message: unknown): LogIds => {
  const { run_id, event_id } = (message ?? {}) as Record<string, unknown>
  return {
    ...(typeof run_id === 'string' && { run_id }),
    ...(typeof event_id === 'string' && { event_id }),
  }
}
