import type { LambdaDeploymentConfig } from 'aws-cdk-lib/aws-codedeploy'

/** Paces at which traffic moves to a new version, by CodeDeploy's names. `allAtOnce` doesn't use CodeDeploy. */
export const STEPS = {
  canary10Percent5Minutes: 'CANARY_10PERCENT_5MINUTES',
  canary10Percent10Minutes: 'CANARY_10PERCENT_10MINUTES',
  canary10Percent15Minutes: 'CANARY_10PERCENT_15MINUTES',
  canary10Percent30Minutes: 'CANARY_10PERCENT_30MINUTES',
  linear10PercentEvery1Minute: 'LINEAR_10PERCENT_EVERY_1MINUTE',
  linear10PercentEvery2Minutes: 'LINEAR_10PERCENT_EVERY_2MINUTES',
  linear10PercentEvery3Minutes: 'LINEAR_10PERCENT_EVERY_3MINUTES',
  linear10PercentEvery10Minutes: 'LINEAR_10PERCENT_EVERY_10MINUTES',
} as const satisfies Record<string, keyof typeof LambdaDeploymentConfig>

export const PACES = ['allAtOnce', ...(Object.keys(STEPS) as (keyof typeof STEPS)[])] as const

export type Pace = (typeof PACES)[number]
