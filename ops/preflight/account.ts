/** The AWS account of a deployment, as far as the preflight check reads it. Absent values couldn't be found. */
export interface Account {
  id: string
  region: string
  /** Executions that Lambda allows at the same time in a region, and those that no function has reserved. */
  concurrency(region: string): Promise<{ limit: number; unreserved: number }>
  /** Version of the CDK's bootstrap in a region. */
  bootstrapVersion(region: string): Promise<number | undefined>
  certificate(arn: string): Promise<{ status: string; names: string[] } | undefined>
  /** Value of a service quota in the region. */
  quota(service: string, code: string): Promise<number | undefined>
  hasRole(name: string): Promise<boolean>
  /** Role with which API Gateway writes logs in the region. */
  gatewayLogRole(): Promise<string | undefined>
  /** CloudFormation's status of a stack, and whether it is protected from deletion. */
  stack(name: string, region: string): Promise<{ status: string; protected: boolean } | undefined>
  /** Whether SES may send from an identity (an address or a domain) of the region. */
  mailIdentity(identity: string): Promise<boolean | undefined>
  /** Whether SES sends to any address. In its sandbox it sends to verified ones only. */
  mailsAnybody(): Promise<boolean>
  /** A key of KMS. Its policy is absent if it may not be read, as that of another account's key. */
  key(arn: string): Promise<{ state: string; spec: string; usage: string; policy: string | undefined } | undefined>
}

const missing = (error: unknown): undefined => {
  const { name = '', message = '' } = error as Error
  if (/NotFound|NoSuchEntity|NoSuchResource|ParameterNotFound/.test(name) || /does not exist/.test(message)) return
  throw error
}

/** Connects to the account of the current credentials. Loads the SDK's clients when they are needed. */
export async function connectAccount(region: string): Promise<Account> {
  const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts')
  const { Account: id = '' } = await new STSClient({ region }).send(new GetCallerIdentityCommand({}))
  const stackOf = async (StackName: string, at: string) => {
    const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation')
    const { Stacks } = (await new CloudFormationClient({ region: at })
      .send(new DescribeStacksCommand({ StackName }))
      .catch(missing)) ?? { Stacks: undefined }
    return Stacks?.[0]
  }
  return {
    id,
    region,
    async concurrency(at) {
      const { GetAccountSettingsCommand, LambdaClient } = await import('@aws-sdk/client-lambda')
      const { AccountLimit } = await new LambdaClient({ region: at }).send(new GetAccountSettingsCommand({}))
      const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit ?? {}
      return { limit, unreserved }
    },
    async bootstrapVersion(at) {
      const version = (await stackOf('CDKToolkit', at))?.Outputs?.find(
        ({ OutputKey }) => OutputKey === 'BootstrapVersion',
      )?.OutputValue
      return version === undefined ? undefined : Number(version)
    },
    async certificate(CertificateArn) {
      const { ACMClient, DescribeCertificateCommand } = await import('@aws-sdk/client-acm')
      const client = new ACMClient({ region: CertificateArn.split(':')[3] ?? region })
      const found = await client.send(new DescribeCertificateCommand({ CertificateArn })).catch(missing)
      if (!found?.Certificate) return undefined
      const { Status = '', DomainName = '', SubjectAlternativeNames = [] } = found.Certificate
      return { status: Status, names: [...new Set([DomainName, ...SubjectAlternativeNames])] }
    },
    async quota(ServiceCode, QuotaCode) {
      const { GetAWSDefaultServiceQuotaCommand, GetServiceQuotaCommand, ServiceQuotasClient } = await import(
        '@aws-sdk/client-service-quotas'
      )
      const client = new ServiceQuotasClient({ region })
      const quota = { ServiceCode, QuotaCode }
      // A quota that was never raised has only its default.
      const found =
        (await client.send(new GetServiceQuotaCommand(quota)).catch(missing)) ??
        (await client.send(new GetAWSDefaultServiceQuotaCommand(quota)).catch(missing))
      return found?.Quota?.Value
    },
    async hasRole(RoleName) {
      const { GetRoleCommand, IAMClient } = await import('@aws-sdk/client-iam')
      return (await new IAMClient({ region }).send(new GetRoleCommand({ RoleName })).catch(missing)) !== undefined
    },
    async gatewayLogRole() {
      const { APIGatewayClient, GetAccountCommand } = await import('@aws-sdk/client-api-gateway')
      return (await new APIGatewayClient({ region }).send(new GetAccountCommand({}))).cloudwatchRoleArn
    },
    async stack(name, at) {
      const found = await stackOf(name, at)
      return found && { status: found.StackStatus ?? '', protected: found.EnableTerminationProtection === true }
    },
    async mailIdentity(EmailIdentity) {
      const { GetEmailIdentityCommand, SESv2Client } = await import('@aws-sdk/client-sesv2')
      const found = await new SESv2Client({ region })
        .send(new GetEmailIdentityCommand({ EmailIdentity }))
        .catch(missing)
      return found && found.VerifiedForSendingStatus === true
    },
    async key(KeyId) {
      const { DescribeKeyCommand, GetKeyPolicyCommand, KMSClient } = await import('@aws-sdk/client-kms')
      const client = new KMSClient({ region })
      const { KeyMetadata } = (await client.send(new DescribeKeyCommand({ KeyId })).catch(missing)) ?? {}
      if (!KeyMetadata) return undefined
      const { KeyState = '', KeySpec = '', KeyUsage = '' } = KeyMetadata
      const policy = await client.send(new GetKeyPolicyCommand({ KeyId })).then(
        (answer) => answer.Policy,
        (error: Error) => {
          if (error.name !== 'AccessDeniedException') throw error
          return undefined
        },
      )
      return { state: KeyState, spec: KeySpec, usage: KeyUsage, policy }
    },
    async mailsAnybody() {
      const { GetAccountCommand: GetMailAccountCommand, SESv2Client } = await import('@aws-sdk/client-sesv2')
      return (await new SESv2Client({ region }).send(new GetMailAccountCommand({}))).ProductionAccessEnabled === true
    },
  }
}
