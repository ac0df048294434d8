import { OperatorError } from './command.ts'

/**
 * Settles the region for a command and what it starts: as the AWS CLI finds it, from the environment, then from the profile. The SDK
 * doesn't know `AWS_DEFAULT_REGION`, and the CDK takes us-east-1 where it finds none, so both are told.
 *
 * @throws {OperatorError} if there is none
 */
export async function settleRegion(): Promise<string> {
  const { STSClient } = await import('@aws-sdk/client-sts')
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env
  const region =
    AWS_REGION ||
    AWS_DEFAULT_REGION ||
    (await new STSClient({}).config.region().catch(() => {
      throw new OperatorError(
        'No region is set. Set AWS_REGION, or the region of your profile: aws configure set region eu-central-1',
      )
    }))
  process.env.AWS_REGION = region
  return region
}
