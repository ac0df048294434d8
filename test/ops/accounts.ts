import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json, text } from 'node:stream/consumers'

export interface MadeUpStack {
  status: string
  protected: boolean
  tags?: Record<string, string>
}

/** An AWS account as its services answer about it. */
export interface MadeUpAccount {
  id: string
  /** Executions that Lambda allows, and those that are left, by region. */
  executions: Record<string, { limit: number; left: number }>
  /** Regions in which the CDK is bootstrapped. */
  bootstrapped: string[]
  /** Stacks besides the bootstrap's, by name. */
  stacks?: Record<string, MadeUpStack>
  certificates?: Record<string, { Status: string; DomainName: string }>
  /** Identities in SES: whether they are verified. */
  identities?: Record<string, boolean>
  /** SES has let the account out of its sandbox. */
  mailsAnybody?: boolean
  gatewayRate?: number
  gatewayLogRole?: string
  /** Names of the stacks that were deleted, in this order. */
  deleted?: string[]
  /** Service-linked roles. */
  roles?: string[]
  /** Keys of KMS by ARN. Without a policy, it may not be read. */
  keys?: Record<string, { state?: string; spec?: string; policy?: object }>
}

interface Answer {
  status?: number
  type?: string
  body: string
}

const xml = (body: string, status = 200): Answer => ({ status, type: 'text/xml', body })
const asJson = (body: unknown, status = 200): Answer => ({ status, body: JSON.stringify(body) })
const failure = (code: string, message: string, status: number): Answer =>
  xml(
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
    status,
  )
const refusal = (code: string, status = 400): Answer => asJson({ __type: code, message: code }, status)

const described = (stacks: [string, MadeUpStack][]): Answer => {
  const members = stacks.map(([name, { status, protected: isProtected, tags = {} }]) => {
    const each = Object.entries(tags).map(([key, value]) => `<member><Key>${key}</Key><Value>${value}</Value></member>`)
    return `<member><StackName>${name}</StackName><StackId>${name}</StackId><StackStatus>${status}</StackStatus>
      <CreationTime>2026-11-01T00:00:00Z</CreationTime><EnableTerminationProtection>${isProtected}</EnableTerminationProtection>
      <Tags>${each.join('')}</Tags>
      <Outputs><member><OutputKey>BootstrapVersion</OutputKey><OutputValue>30</OutputValue></member></Outputs></member>`
  })
  return xml(
    `<DescribeStacksResponse><DescribeStacksResult><Stacks>${members.join('')}</Stacks></DescribeStacksResult></DescribeStacksResponse>`,
  )
}

/** Answers of the services that speak AWS's query protocol. */
const query = (account: MadeUpAccount, region: string, parameters: URLSearchParams): Answer => {
  const action = parameters.get('Action')
  if (action === 'GetCallerIdentity')
    return xml(
      `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>${account.id}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`,
    )
  if (action === 'GetRole') {
    const name = parameters.get('RoleName') ?? ''
    if (!account.roles?.includes(name))
      return failure('NoSuchEntity', `The role with name ${name} cannot be found.`, 404)
    return xml(
      `<GetRoleResponse><GetRoleResult><Role><RoleName>${name}</RoleName></Role></GetRoleResult></GetRoleResponse>`,
    )
  }
  if (action === 'ListStackResources')
    return xml(
      '<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries/></ListStackResourcesResult></ListStackResourcesResponse>',
    )
  const name = parameters.get('StackName') ?? ''
  if (action === 'DeleteStack') {
    delete account.stacks?.[name]
    account.deleted = [...(account.deleted ?? []), name]
    return xml('<DeleteStackResponse/>')
  }
  if (!name) return described(Object.entries(account.stacks ?? {}))
  const stack =
    name === 'CDKToolkit' && account.bootstrapped.includes(region)
      ? { status: 'CREATE_COMPLETE', protected: false }
      : account.stacks?.[name]
  if (!stack) return failure('ValidationError', `Stack with id ${name} does not exist`, 400)
  return described([[name, stack]])
}

/** Answers of the services that speak JSON over one address. */
const targeted = (account: MadeUpAccount, target: string, body: Record<string, string>): Answer => {
  if (target.endsWith('.DescribeCertificate')) {
    const found = account.certificates?.[body.CertificateArn ?? '']
    return found ? asJson({ Certificate: found }) : refusal('ResourceNotFoundException')
  }
  if (target.startsWith('TrentService.')) {
    const { state = 'Enabled', spec = 'SYMMETRIC_DEFAULT', policy } = account.keys?.[body.KeyId ?? ''] ?? {}
    if (!account.keys?.[body.KeyId ?? '']) return refusal('NotFoundException')
    if (target.endsWith('.DescribeKey'))
      return asJson({ KeyMetadata: { KeyState: state, KeySpec: spec, KeyUsage: 'ENCRYPT_DECRYPT', KeyId: body.KeyId } })
    return policy ? asJson({ Policy: JSON.stringify(policy) }) : refusal('AccessDeniedException')
  }
  if (target.endsWith('.GetServiceQuota')) return refusal('NoSuchResourceException')
  if (target.endsWith('.GetAWSDefaultServiceQuota')) return asJson({ Quota: { Value: account.gatewayRate ?? 10_000 } })
  throw new Error(`nobody answers ${target}`)
}

/** Answers of the services that speak JSON over paths. */
const rest = (account: MadeUpAccount, region: string, path: string): Answer => {
  if (path === '/2016-08-19/account-settings') {
    const { limit, left } = account.executions[region] ?? { limit: 1_000, left: 1_000 }
    return asJson({ AccountLimit: { ConcurrentExecutions: limit, UnreservedConcurrentExecutions: left } })
  }
  if (path === '/account') return asJson({ cloudwatchRoleArn: account.gatewayLogRole })
  if (path === '/v2/email/account') return asJson({ ProductionAccessEnabled: account.mailsAnybody === true })
  const [, identity] = /^\/v2\/email\/identities\/(.+)$/.exec(path) ?? []
  const verified = identity && account.identities?.[decodeURIComponent(identity)]
  if (verified === undefined) return refusal('NotFoundException', 404)
  return asJson({ VerifiedForSendingStatus: verified })
}

const answer = async (account: MadeUpAccount, request: IncomingMessage): Promise<Answer> => {
  // The signature names the region for which a client asks.
  const [, region = ''] = /Credential=[^/]+\/\d+\/([\w-]+)\//.exec(request.headers.authorization ?? '') ?? []
  const target = request.headers['x-amz-target']
  if (typeof target === 'string') return targeted(account, target, (await json(request)) as Record<string, string>)
  if (request.method === 'POST') return query(account, region, new URLSearchParams(await text(request)))
  const { pathname } = new URL(request.url ?? '', 'http://aws')
  return rest(account, region, pathname.replace(/(?<=.)\/$/, ''))
}

/** Serves AWS's APIs for an account. @returns the address for `AWS_ENDPOINT_URL`, and a function that ends it */
export const serveAccount = async (account: MadeUpAccount): Promise<{ url: string; close: () => Promise<void> }> => {
  const server = createServer((request, response) => {
    answer(account, request).then(
      ({ status = 200, type = 'application/x-amz-json-1.1', body }) =>
        response.writeHead(status, { 'content-type': type, 'x-amzn-requestid': 'made-up' }).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
