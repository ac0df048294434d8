import { AccessLogField, AccessLogFormat } from 'aws-cdk-lib/aws-apigateway'

/**
 * Fields of API Gateway's line for each request: those that only the gateway knows, and those without which a request that
 * it answers itself couldn't be recognized. The functions log `request_id` as `gateway_request_id`, along with the ids of Lambda,
 * trace and run. Query string and headers are left out, since they carry codes, tokens and signatures.
 */
export const ACCESS_LOG_FIELDS = {
  request_id: AccessLogField.contextRequestId(),
  ip: AccessLogField.contextIdentitySourceIp(),
  method: AccessLogField.contextHttpMethod(),
  path: AccessLogField.contextPath(),
  status: AccessLogField.contextStatus(),
  bytes: AccessLogField.contextResponseLength(),
  latency_ms: AccessLogField.contextResponseLatency(),
  integration_ms: AccessLogField.contextIntegrationLatency(),
  error: AccessLogField.contextErrorResponseType(),
} as const

export const accessLogFormat = AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS))
