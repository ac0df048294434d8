import { OperatorError } from '../admin/table.ts'

/**
 * The outputs of a deployed stack that are asked for.
 *
 * @throws {OperatorError} if there is no such stack, or it is from before there was one of them
 */
export async function stackOutputs(stackName: string, names: readonly string[]): Promise<Map<string, string>> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation')
  const client = new CloudFormationClient({})
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName })).catch((error) => {
    throw new OperatorError(`The stack ${stackName} cannot be read: ${error.message}`)
  })
  const outputs = new Map((Stacks[0]?.Outputs ?? []).map((each) => [each.OutputKey ?? '', each.OutputValue ?? '']))
  const missing = names.find((name) => !outputs.get(name))
  if (missing !== undefined)
    throw new OperatorError(`The stack ${stackName} has no output ${missing}. Deploy it again first.`)
  return outputs
}
