import { Aws, Duration, Fn, type RemovalPolicy, Stack } from 'aws-cdk-lib'
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { Schedule } from 'aws-cdk-lib/aws-events'
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import { acknowledge } from './nag.ts'

/** Period for which backups are kept, the same as that of point-in-time recovery. */
export const KEPT = Duration.days(35)

const POLICIES = ['service-role/AWSBackupServiceRolePolicyForBackup', 'AWSBackupServiceRolePolicyForS3Backup']

/** Characters of the stack's name that fit into a vault's name, which has at most 50. */
const MOST_OF_NAME = 50 - '-12345678'.length

/** Returns eight characters that differ between stacks of the same name. */
export const partOfStackId = (): string => Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Aws.STACK_ID))))

/**
 * Adds a nightly backup to a vault whose lock keeps each backup for its whole period. Point-in-time recovery ends with the table,
 * and anyone who may change the table can turn it off. Neither affects these backups.
 */
export function addBackup(
  scope: Construct,
  { tables, buckets }: { tables: readonly ITable[]; buckets: readonly IBucket[] },
  { removalPolicy, copyTo }: { removalPolicy: RemovalPolicy; copyTo: string | undefined },
): void {
  const backupVault = new BackupVault(scope, 'BackupVault', {
    // The vault needs a name and outlives its stack, so the next stack of the same name gets another one.
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
        ...(copyTo !== undefined && {
          copyActions: [
            {
              destinationBackupVault: BackupVault.fromBackupVaultArn(scope, 'CopyVault', copyTo),
              deleteAfter: KEPT,
            },
          ],
        }),
      }),
    ],
  })
  const role = new Role(scope, 'BackupRole', {
    description: 'Permissions of AWS Backup to back up the tables and the bucket',
    assumedBy: new ServicePrincipal('backup.amazonaws.com'),
    managedPolicies: POLICIES.map((policy) => ManagedPolicy.fromAwsManagedPolicyName(policy)),
  })
  for (const policy of POLICIES) {
    acknowledge(role, {
      [`AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`]:
        'AWS maintains this policy for AWS Backup and changes it with the service.',
    })
  }
  plan.addSelection('Table', {
    resources: [
      ...tables.map((table) => BackupResource.fromDynamoDbTable(table)),
      ...buckets.map(({ bucketArn }) => BackupResource.fromArn(bucketArn)),
    ],
    role,
  })
}
