import { Aws, Duration, Fn, type RemovalPolicy, Stack } from 'aws-cdk-lib'
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { Schedule } from 'aws-cdk-lib/aws-events'
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'
import { acknowledge } from './nag.ts'

/** As far back as recovery to a point in time goes. */
const KEPT = Duration.days(35)

const POLICY = 'service-role/AWSBackupServiceRolePolicyForBackup'

/** A vault's name has 50 characters at most. */
const MOST_OF_NAME = 50 - '-12345678'.length

/** Eight characters that another stack of the same name does not have. */
const partOfStackId = (): string => Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Aws.STACK_ID))))

/**
 * A backup each night, in a vault whose lock keeps them for their whole time: recovery to a point in time goes with the table and
 * with whoever may change it, these do not.
 */
export function addBackup(scope: Construct, table: ITable, removalPolicy: RemovalPolicy): void {
  const backupVault = new BackupVault(scope, 'BackupVault', {
    // It has to have a name, and stays behind: the next stack of the same name gets another one.
    backupVaultName: Fn.join('-', [Stack.of(scope).stackName.slice(0, MOST_OF_NAME), partOfStackId()]),
    removalPolicy,
    lockConfiguration: { minRetention: KEPT },
  })
  const plan = new BackupPlan(scope, 'Backup', {
    backupVault,
    backupPlanRules: [
      new BackupPlanRule({
        ruleName: 'nightly',
        scheduleExpression: Schedule.cron({ hour: '2', minute: '0' }),
        deleteAfter: KEPT,
      }),
    ],
  })
  const role = new Role(scope, 'BackupRole', {
    description: 'What AWS Backup may do to back the table up',
    assumedBy: new ServicePrincipal('backup.amazonaws.com'),
    managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(POLICY)],
  })
  acknowledge(role, {
    [`AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${POLICY}]`]:
      'What AWS Backup needs changes with that service; this is the policy that it keeps for it.',
  })
  plan.addSelection('Table', { resources: [BackupResource.fromDynamoDbTable(table)], role })
}
