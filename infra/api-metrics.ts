import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch'

/** An API and its stage, as CloudWatch calls them. */
export type ApiNames = { apiName: string; apiStage: string }

/**
 * What API Gateway measures of a stage. By names, not by the stage itself: an export that is in use cannot change, and the stage's
 * name is a setting.
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
