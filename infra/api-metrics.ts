import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch'

/** Names of an API and its stage in CloudWatch. */
export type ApiNames = { apiName: string; apiStage: string }

/**
 * Returns a metric of API Gateway. It refers to the stage by name, because an export in use can't change and the stage's name is
 * a setting.
 */
export const apiMetric = (
  { apiName, apiStage }: ApiNames,
  metricName: 'Count' | 'Latency' | '4XXError' | '5XXError',
  options: MetricOptions,
): Metric =>
  new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensionsMap: { ApiName: apiName, Stage: apiStage },
    ...options,
  })
