import { Stack } from 'aws-cdk-lib'
import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import { CfnAnomalySubscription } from 'aws-cdk-lib/aws-ce'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import type { Config } from './config.ts'

/** Shares of the budget, in percent, at which the topic gets a message. */
const SPENT = 80
const FORECAST = 100

/** Reports anomalies above this share of the monthly budget, in percent. */
const ANOMALY = 5

/**
 * Reports the account's costs to the topic of the alarms: a share of the budget that is spent or forecast, and anomalies that AWS's
 * monitor finds. The budget covers the account, because costs by tag need a setting of the organization.
 */
export function addSpending(scope: Construct, config: Config, topic: Topic): void {
  const { monthlyBudget, costMonitorArn } = config
  if (monthlyBudget === undefined) return
  const allow = (sid: string, service: string) =>
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid,
        principals: [new ServicePrincipal(service)],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
      }),
    )
  allow('Budgets', 'budgets.amazonaws.com')
  const told = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
    notification: { notificationType, comparisonOperator: 'GREATER_THAN', threshold, thresholdType: 'PERCENTAGE' },
    subscribers: [{ subscriptionType: 'SNS', address: topic.topicArn }],
  })
  const budget = new CfnBudget(scope, 'Budget', {
    budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount: monthlyBudget, unit: 'USD' } },
    notificationsWithSubscribers: [told('ACTUAL', SPENT), told('FORECASTED', FORECAST)],
  })
  budget.node.addDependency(topic)
  if (costMonitorArn === undefined) return
  allow('CostAnomalies', 'costalerts.amazonaws.com')
  const subscription = new CfnAnomalySubscription(scope, 'CostAnomalies', {
    subscriptionName: `${config.prefix}-${config.stage}`,
    frequency: 'IMMEDIATE',
    monitorArnList: [costMonitorArn],
    subscribers: [{ type: 'SNS', address: topic.topicArn }],
    thresholdExpression: JSON.stringify({
      Dimensions: {
        Key: 'ANOMALY_TOTAL_IMPACT_ABSOLUTE',
        MatchOptions: ['GREATER_THAN_OR_EQUAL'],
        Values: [String(Math.max(1, Math.round((monthlyBudget * ANOMALY) / 100)))],
      },
    }),
  })
  subscription.node.addDependency(topic)
}
