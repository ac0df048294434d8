import type { Config } from '#infra/config.ts'
import type { Account } from './account.ts'
import type { Finding } from './finding.ts'

/** Template of a key that passes the check. */
const TEMPLATE = 'docs/customer-key.yml'

/** Actions of the services that use the key on their own behalf. Roles get their permissions from the account's policies. */
const SEALS = ['kms:Decrypt', 'kms:GenerateDataKey']
const usersOf = ({ monthlyBudget, costMonitorArn }: Config, { id, region }: Account): [string, string[]][] => [
  [`arn:aws:iam::${id}:root`, [...SEALS, 'kms:DescribeKey', 'kms:CreateGrant']],
  [`logs.${region}.amazonaws.com`, ['kms:Encrypt', 'kms:ReEncryptTo', 'kms:DescribeKey', ...SEALS]],
  ['events.amazonaws.com', SEALS],
  ['cloudwatch.amazonaws.com', SEALS],
  ...(monthlyBudget === undefined ? [] : [['budgets.amazonaws.com', SEALS] satisfies [string, string[]]]),
  ...(costMonitorArn === undefined ? [] : [['costalerts.amazonaws.com', SEALS] satisfies [string, string[]]]),
]

interface Statement {
  Effect: string
  Principal?: '*' | Record<string, string | string[]>
  Action?: string | string[]
}

const list = <T>(value: T | T[] | undefined): T[] => (value === undefined ? [] : ([value].flat() as T[]))

/** Returns the form of a principal in which those of all partitions are equal. */
const plain = (principal: string): string =>
  principal.replace(/^arn:[a-z-]+:/, 'arn:aws:').replace(/\.amazonaws\.com\.cn$/, '.amazonaws.com')

/** Returns true if a policy allows an action to a principal. Conditions aren't evaluated. */
const allows = (policy: string, principal: string, action: string): boolean => {
  const { Statement = [] } = JSON.parse(policy) as { Statement?: Statement | Statement[] }
  return list(Statement).some(({ Effect, Principal, Action }) => {
    const named =
      Principal === '*'
        ? ['*']
        : Object.values(Principal ?? {})
            .flat()
            .map(plain)
    const account = /^arn:aws:iam::(\d+):root$/.exec(principal)?.[1]
    const isMeant = named.some((one) => one === '*' || one === principal || one === account)
    const matches = list(Action).some((pattern) =>
      new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i').test(action),
    )
    return Effect === 'Allow' && isMeant && matches
  })
}

/** Checks that the stage's own key exists, works for this stage, and lets the services use it that send or log. */
export const checkKey = async (config: Config, account: Account): Promise<Finding[]> => {
  const { kmsKeyArn } = config
  if (kmsKeyArn === undefined) return []
  const at = `--region ${account.region} --key-id ${kmsKeyArn}`
  const another = `create one: aws cloudformation deploy --region ${account.region} --stack-name platform-key --template-file ${TEMPLATE}`
  const error = (what: string, fix: string): Finding[] => [{ level: 'error', what, fix }]
  const key = await account.key(kmsKeyArn)
  if (key === undefined) return error(`The key ${kmsKeyArn} doesn't exist.`, another)
  if (key.spec !== 'SYMMETRIC_DEFAULT' || key.usage !== 'ENCRYPT_DECRYPT')
    return error(
      `The key ${kmsKeyArn} is ${key.spec} for ${key.usage}. Services encrypt with symmetric keys (SYMMETRIC_DEFAULT, ENCRYPT_DECRYPT) only.`,
      another,
    )
  if (key.state === 'PendingDeletion')
    return error(
      `The key ${kmsKeyArn} is going to be deleted. Nothing that it has encrypted can be read then.`,
      `aws kms cancel-key-deletion ${at}, and aws kms enable-key ${at}`,
    )
  if (key.state !== 'Enabled')
    return error(
      `The key's state is ${key.state}, and it must be Enabled.`,
      key.state === 'Disabled' ? `aws kms enable-key ${at}` : `aws kms describe-key ${at}`,
    )
  const read = `aws kms get-key-policy ${at} --policy-name default --query Policy --output text`
  const fix = `${read}, and put it back with the statements of ${TEMPLATE}: aws kms put-key-policy ${at} --policy-name default --policy file://policy.json`
  const users = usersOf(config, account)
  const { policy } = key
  if (policy === undefined)
    return [
      {
        level: 'warning',
        what: `The key's policy can't be read. It has to let these use the key: ${users.map(([user]) => user).join(', ')}.`,
        fix: `compare it with ${TEMPLATE}: ${read}`,
      },
    ]
  const refused = users.filter(([user, actions]) => actions.some((action) => !allows(policy, user, action)))
  return refused.length === 0
    ? []
    : error(`The key's policy doesn't let these use it: ${refused.map(([user]) => user).join(', ')}.`, fix)
}
