import type { SecretValue } from 'aws-cdk-lib'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import type { Config } from './config.ts'
import { encryption } from './encryption.ts'
import { acknowledge } from './nag.ts'

/** Keys by which the API recognizes the edge. */
export type EdgeKeys = {
  /** Key that the edge sends. */
  sent: SecretValue
  /** ARNs of the keys that the API accepts, by number: the one that is sent and the next. */
  taken: ReadonlyMap<number, string>
}

/** Names the `n`th construct of a kind: `EdgeKey`, `EdgeKey2`, … */
export const nth = (name: string, n: number): string => (n === 1 ? name : `${name}${n}`)

/**
 * Creates the keys for a stage that sends the one of the setting. The API accepts the next key one deployment before the edge sends it, so that no
 * request is refused while CloudFront spreads a change. CloudFormation removes the previous key at the end of the update, when the edge
 * no longer sends it.
 */
export function edgeKeys(scope: Construct, config: Pick<Config, 'edgeKey' | 'kmsKeyArn'>): EdgeKeys {
  const { edgeKey: n } = config
  const [sent, next] = [newKey(scope, n, config), newKey(scope, n + 1, config)]
  return {
    sent: sent.secretValue,
    taken: new Map([
      [n, sent.secretArn],
      [n + 1, next.secretArn],
    ]),
  }
}

/** Creates a key. Only CloudFormation reads it, to set up the edge and the API. */
function newKey(scope: Construct, number: number, config: Pick<Config, 'kmsKeyArn'>): Secret {
  const secret = new Secret(scope, nth('EdgeKey', number), {
    ...encryption(scope, config),
    description: 'Key by which the API recognizes the edge',
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
  })
  acknowledge(secret, {
    'AwsSolutions-SMG4': 'CloudFormation gives it to the edge and the API. The setting edgeKey rotates it.',
  })
  return secret
}
