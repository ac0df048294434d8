import { readFileSync } from 'node:fs'
import { type Config, type Context, readConfig } from '#infra/config.ts'
import { OperatorError } from './command.ts'
import { settleRegion } from './region.ts'

/**
 * Reads the settings for an operator's command: those of `cdk.json`, overridden by the command line.
 *
 * @param given settings by name; undefined ones are ignored
 * @throws {ConfigError} that names each invalid setting
 */
export function readStage(given: Context): Config {
  const { context } = JSON.parse(readFileSync(new URL('../cdk.json', import.meta.url), 'utf8'))
  const overrides = Object.entries(given).filter(([, value]) => value !== undefined)
  return readConfig({ ...context, ...Object.fromEntries(overrides) }, process.env)
}

/** Returns the name of the stack whose outputs locate everything else. */
export const serviceStackOf = ({ prefix, stage }: Pick<Config, 'prefix' | 'stage'>): string =>
  `${prefix}-${stage}-Service`

/**
 * Reads outputs of a deployed stack.
 *
 * @throws {OperatorError} if the stack doesn't exist, or is too old to have one of the outputs
 */
export async function stackOutputs<Name extends string>(
  stackName: string,
  names: readonly Name[],
): Promise<Record<Name, string>> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation')
  const client = new CloudFormationClient({ region: await settleRegion() })
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName })).catch((error) => {
    throw new OperatorError(`The stack ${stackName} cannot be read: ${error.message}`)
  })
  const outputs = new Map((Stacks[0]?.Outputs ?? []).map((each) => [each.OutputKey ?? '', each.OutputValue]))
  const missing = names.find((name) => !outputs.get(name))
  if (missing !== undefined)
    throw new OperatorError(`The stack ${stackName} has no output ${missing}. Deploy it again first.`)
  return Object.fromEntries(names.map((name) => [name, outputs.get(name)])) as Record<Name, string>
}

/** Finds the name of a stage's table. @throws {OperatorError} as {@link stackOutputs} */
export const tableOf = async (config: Pick<Config, 'prefix' | 'stage'>): Promise<string> =>
  (await stackOutputs(serviceStackOf(config), ['TableName'])).TableName
