import { Duration } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { VERSION_ERRORS } from '#shared/kernel/metrics.ts'
import { platformMetric } from '../watches/watch.ts'

const period = Duration.minutes(1)

/** Metric of crashed and timed-out invocations of a function's newest version. Those of the previous version don't count. */
export const crashes = (lambda: LambdaFunction, alias: string): Metric =>
  new Metric({
    namespace: 'AWS/Lambda',
    metricName: 'Errors',
    dimensionsMap: {
      FunctionName: lambda.functionName,
      // Built from names, because a reference to the alias would create a cycle: alias, group, alarm, alias.
      Resource: `${lambda.functionName}:${alias}`,
      ExecutedVersion: lambda.currentVersion.version,
    },
    statistic: 'Sum',
    period,
  })

/** Metric of the newest version's responses with a 5xx. */
export const serverErrors = (lambda: LambdaFunction, stageName: string): Metric =>
  platformMetric(
    stageName,
    VERSION_ERRORS,
    { Function: lambda.functionName, Version: lambda.currentVersion.version },
    { statistic: 'Sum', period },
  )
