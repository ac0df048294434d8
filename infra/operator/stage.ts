import { readFileSync } from 'node:fs'
import { type Config, type Context, readConfig } from '../config.ts'
import { OperatorError } from './command.ts'

/**
 * The settings that a command of the operator's goes by: those of `cdk.json`, with what stands on the command line over them.
 *
 * @param given by name; what is undefined was not given
 * @throws {ConfigError} naming each wrong setting
 */
export function readStage(given: Context): Config {
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'))
  const overrides = Object.entries(given).filter(([, value]) => value !== undefined)
  return readConfig({ ...context, ...Object.fromEntries(overrides) }, process.env)
}

/** The name of the stack whose outputs tell where everything is. */
export const serviceStackOf = ({ prefix, stage }: Pick<Config, 'prefix' | 'stage'>): string =>
  `${prefix}-${stage}-Service`

/**
 * The outputs of a deployed stack that are asked for.
 *
 * @throws {OperatorError} if there is no such stack, or it is from before there was one of them
 */
export async function stackOutputs<Name extends string>(
  stackName: string,
  names: readonly Name[],
): Promise<Record<Name, string>> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation')
  const client = new CloudFormationClient({})
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName })).catch((error) => {
    throw new OperatorError(`The stack ${stackName} cannot be read: ${error.message}`)
  })
  const outputs = new Map((Stacks[0]?.Outputs ?? []).map((each) => [each.OutputKey ?? '', each.OutputValue]))
  const missing = names.find((name) => !outputs.get(name))
  if (missing !== undefined)
    throw new OperatorError(`The stack ${stackName} has no output ${missing}. Deploy it again first.`)
  return Object.fromEntries(names.map((name) => [name, outputs.get(name)])) as Record<Name, string>
}

/** The name of a stage's table. @throws {OperatorError} as {@link stackOutputs} */
export const tableOf = async (config: Pick<Config, 'prefix' | 'stage'>): Promise<string> =>
  (await stackOutputs(serviceStackOf(config), ['TableName'])).TableName
