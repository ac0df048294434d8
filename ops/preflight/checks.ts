import type { Config } from '#infra/config.ts'
import { reservedExecutions } from '#infra/reserved.ts'
import type { Account } from './account.ts'

/** A problem that stops a deployment (`error`) or will surprise its operator (`warning`), with the command that fixes it. */
export interface Finding {
  level: 'error' | 'warning'
  what: string
  fix: string
}

type Check = (config: Config, account: Account) => Promise<(Finding | false)[]>

/** Region of everything that CloudFront uses. */
const EDGE_REGION = 'us-east-1'

/** Lambda keeps this many executions for functions without a reservation. */
const KEPT_UNRESERVED = 100

/** Lowest version of the bootstrap that the CDK's templates accept. */
const BOOTSTRAP = 6

const raise = (region: string, service: string, code: string, value: number): string =>
  `aws service-quotas request-service-quota-increase --region ${region} --service-code ${service} --quota-code ${code} --desired-value ${value}`

const concurrency: Check = async (config, account) => {
  const reserved = reservedExecutions(config)
  const needed = reserved + KEPT_UNRESERVED
  const { limit, unreserved } = await account.concurrency()
  const fix = raise(account.region, 'lambda', 'L-B99A9384', Math.max(1_000, needed))
  if (limit < needed)
    return [
      {
        level: 'error',
        what: `The account allows ${limit} concurrent executions in ${account.region}. The stage reserves ${reserved}, and Lambda keeps ${KEPT_UNRESERVED} for functions without a reservation.`,
        fix: reserved > 0 ? `${fix}, or deploy with -c 'reservedConcurrency={}'` : fix,
      },
    ]
  const isNew = !(await account.hasStack(`${config.prefix}-${config.stage}-Service`))
  return [
    isNew &&
      unreserved < needed && {
        level: 'error',
        what: `Other functions in ${account.region} have reserved executions: ${unreserved} of ${limit} are left. The stage reserves ${reserved}, and Lambda keeps ${KEPT_UNRESERVED}.`,
        fix: raise(account.region, 'lambda', 'L-B99A9384', limit - unreserved + needed),
      },
    limit - reserved < 500 && {
      level: 'warning',
      what: `${limit - reserved} concurrent executions remain for requests. At 100 ms a request, that is ${(limit - reserved) * 10} requests a second.`,
      fix,
    },
  ]
}

const bootstrap: Check = async (config, account) => {
  const regions = [...new Set([account.region, ...(config.edge ? [EDGE_REGION] : [])])]
  return Promise.all(
    regions.map(async (region): Promise<Finding | false> => {
      const version = await account.bootstrapVersion(region)
      if (version !== undefined && version >= BOOTSTRAP) return false
      const what =
        version === undefined
          ? `The CDK isn't bootstrapped in ${region}.`
          : `The CDK's bootstrap in ${region} has version ${version}, and ${BOOTSTRAP} is needed.`
      return { level: 'error', what, fix: `npx cdk bootstrap aws://${account.id}/${region}` }
    }),
  )
}

const covers = (name: string, domain: string): boolean =>
  name === domain || (name.startsWith('*.') && domain.slice(domain.indexOf('.') + 1) === name.slice(2))

const certificate: Check = async ({ certificateArn, domainName, edge }, account) => {
  if (certificateArn === undefined || domainName === undefined) return []
  const region = certificateArn.split(':')[3]
  const needed = edge ? EDGE_REGION : account.region
  const request = `aws acm request-certificate --region ${needed} --domain-name ${domainName} --validation-method DNS`
  if (region !== needed)
    return [{ level: 'error', what: `The certificate is in ${region}, and it must be in ${needed}.`, fix: request }]
  const found = await account.certificate(certificateArn)
  if (found === undefined)
    return [{ level: 'error', what: `The certificate ${certificateArn} doesn't exist.`, fix: request }]
  return [
    found.status !== 'ISSUED' && {
      level: 'error',
      what: `The certificate's status is ${found.status}, and it must be ISSUED.`,
      fix: `aws acm describe-certificate --region ${needed} --certificate-arn ${certificateArn}`,
    },
    !found.names.some((name) => covers(name, domainName)) && {
      level: 'error',
      what: `The certificate is for ${found.names.join(', ')}, and not for ${domainName}.`,
      fix: request,
    },
  ]
}

const quotas: Check = async ({ throttle }, account) => {
  const rate = await account.quota('apigateway', 'L-8A5B8E43')
  return [
    rate !== undefined &&
      throttle.rate > rate && {
        level: 'error',
        what: `The setting throttle allows ${throttle.rate} requests a second, and the account's API Gateway ${rate} for all APIs of the region.`,
        fix: raise(account.region, 'apigateway', 'L-8A5B8E43', throttle.rate),
      },
  ]
}

/** Roles that AWS creates when a service is first used, if the deployer may create them. */
const SERVICE_ROLES: { role: string; service: string; when: (config: Config) => boolean }[] = [
  { role: 'AWSServiceRoleForLambdaReplicator', service: 'replicator.lambda.amazonaws.com', when: ({ edge }) => edge },
  { role: 'AWSServiceRoleForBackup', service: 'backup.amazonaws.com', when: ({ backup }) => backup },
]

const serviceRoles: Check = (config, account) =>
  Promise.all(
    SERVICE_ROLES.filter(({ when }) => when(config)).map(
      async ({ role, service }): Promise<Finding | false> =>
        !(await account.hasRole(role)) && {
          level: 'warning',
          what: `The service-linked role ${role} doesn't exist. AWS creates it if the deployer may (iam:CreateServiceLinkedRole).`,
          fix: `aws iam create-service-linked-role --aws-service-name ${service}`,
        },
    ),
  )

const gatewayLogs: Check = async (config, account) => {
  const role = await account.gatewayLogRole()
  return [
    role !== undefined &&
      !role.includes(`:role/${config.prefix}-`) && {
        level: 'warning',
        what: `API Gateway in ${account.region} writes logs with ${role}. The stage replaces it for all APIs of the region; it may write the same logs.`,
        fix: `to keep it, run after the deployment: aws apigateway update-account --patch-operations op=replace,path=/cloudwatchRoleArn,value=${role}`,
      },
  ]
}

const CHECKS: Check[] = [concurrency, bootstrap, certificate, quotas, serviceRoles, gatewayLogs]

/** Compares a stage's settings with the account it is deployed to. @returns errors first */
export async function checkAccount(config: Config, account: Account): Promise<Finding[]> {
  const found = (await Promise.all(CHECKS.map((check) => check(config, account)))).flat()
  return found.filter((one) => one !== false).sort((a, b) => (a.level < b.level ? -1 : a.level > b.level ? 1 : 0))
}
