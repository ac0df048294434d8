import { type SecretValue, Stack } from 'aws-cdk-lib'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import { acknowledge } from './nag.ts'

/** The keys by which the API knows the edge. */
export type EdgeKeys = {
  /** What the edge sends. */
  sent: SecretValue
  /** By their numbers, the ARNs, as other stacks import them, of those that the API takes: the one that is sent, and the next. */
  taken: ReadonlyMap<number, string>
}

/** What is the `n`th of its kind: `EdgeKey`, `EdgeKey2`, … */
export const nth = (name: string, n: number): string => (n === 1 ? name : `${name}${n}`)

/**
 * The keys when the `n`th is sent. The stack of the edge is deployed before the stack that has the API's keys: so that no request
 * is refused meanwhile, the API takes the next key one deployment before the edge sends it. The one before is kept until the API has
 * let go of it, because what another stack still imports cannot be removed.
 */
export function edgeKeys(scope: Construct, n: number): EdgeKeys {
  const exported = (number: number) => {
    const secret = newKey(scope, number)
    return { value: secret.secretValue, arn: Stack.of(scope).exportValue(secret.secretArn) }
  }
  if (n > 1) exported(n - 1)
  const sent = exported(n)
  const next = exported(n + 1)
  const taken = new Map([
    [n, sent.arn],
    [n + 1, next.arn],
  ])
  return { sent: sent.value, taken }
}

/** Read by CloudFormation alone, as it sets up the edge and the API. */
function newKey(scope: Construct, number: number): Secret {
  const secret = new Secret(scope, nth('EdgeKey', number), {
    description: 'What the API knows the edge by',
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
  })
  acknowledge(secret, {
    'AwsSolutions-SMG4': 'CloudFormation hands it to the edge and the API; the setting edgeKey rotates it.',
  })
  return secret
}
