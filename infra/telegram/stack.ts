import { ConnectError } from './connect.ts'

/** What the deployed stack says of itself. */
export interface StackOutputs {
  secretId: string
  baseUrl: string
}

/**
 * The address and the bot's secret of a deployed stage, from the outputs of its stack.
 *
 * @throws {ConnectError} if there is no such stack, or it was deployed before there was a bot
 */
export async function findStack(stackName: string): Promise<StackOutputs> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation')
  const client = new CloudFormationClient({})
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName })).catch((error) => {
    throw new ConnectError(`The stack ${stackName} cannot be read: ${error.message}`)
  })
  const outputs = Object.fromEntries((Stacks[0]?.Outputs ?? []).map((each) => [each.OutputKey, each.OutputValue]))
  const { TelegramBotSecret: secretId, BaseUrl: baseUrl } = outputs
  if (secretId === undefined || baseUrl === undefined) {
    throw new ConnectError(`The stack ${stackName} has no output TelegramBotSecret. Deploy it again first.`)
  }
  return { secretId, baseUrl }
}
