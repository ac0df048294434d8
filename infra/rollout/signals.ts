import { Duration } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'

const period = Duration.minutes(1)

/** Invocations of a function's newest version that crashed or ran out of time; those of the version before it do not count. */
export const crashes = (lambda: LambdaFunction, alias: string): Metric =>
  new Metric({
    namespace: 'AWS/Lambda',
    metricName: 'Errors',
    dimensionsMap: {
      FunctionName: lambda.functionName,
      // Put together, because a reference to the alias would make a circle: alias, group, alarm, alias.
      Resource: `${lambda.functionName}:${alias}`,
      ExecutedVersion: lambda.currentVersion.version,
    },
    statistic: 'Sum',
    period,
  })
