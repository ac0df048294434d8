import type { Config } from '#infra/config.ts'
import { reservedExecutions } from '#infra/reserved.ts'
import { serviceStackOf } from '../stage.ts'
import type { Account } from './account.ts'
import type { Finding } from './finding.ts'
import { checkKey } from './key.ts'

type Check = (config: Config, account: Account) => Promise<(Finding | false)[]>

/** Region of everything that CloudFront uses. */
const EDGE_REGION = 'us-east-1'

/** Lambda keeps this many executions for functions without a reservation. */
const KEPT_UNRESERVED = 100

/** Lowest version of the bootstrap that the CDK's templates accept. */
const BOOTSTRAP = 6

const raise = (region: string, service: string, code: string, value: number): string =>
  `aws service-quotas request-service-quota-increase --region ${region} --service-code ${service} --quota-code ${code} --desired-value ${value}`

/** Executions below which a region has little room for requests. */
const ROOM = 500
/** Executions that a new account often has, and that the check asks for on top of the reserved ones. */
const USUAL = 1_000

const concurrency: Check = async (config, account) => {
  const reserved = reservedExecutions(config)
  const { limit, unreserved } = await account.concurrency(account.region)
  const ask = (value: number) => raise(account.region, 'lambda', 'L-B99A9384', value)
  const remaining = limit - reserved
  const few: Finding = {
    level: 'warning',
    what: `${remaining} concurrent executions remain for requests. At 100 ms a request, that is ${remaining * 10} requests a second.`,
    fix: ask(reserved + USUAL),
  }
  if (reserved === 0) return [limit < ROOM && few]
  const needed = reserved + KEPT_UNRESERVED
  const without = (fix: string) => `${fix}, or deploy with -c 'reservedConcurrency={}'`
  if (limit < needed)
    return [
      {
        level: 'error',
        what: `The account allows ${limit} concurrent executions in ${account.region}. The stage reserves ${reserved}, and Lambda keeps ${KEPT_UNRESERVED} for functions without a reservation.`,
        fix: without(ask(reserved + USUAL)),
      },
    ]
  const isNew = (await account.stack(serviceStackOf(config), account.region)) === undefined
  return [
    isNew &&
      unreserved < needed && {
        level: 'error',
        what: `Other functions in ${account.region} have reserved executions: ${unreserved} of ${limit} are left. The stage reserves ${reserved}, and Lambda keeps ${KEPT_UNRESERVED}.`,
        fix: without(ask(limit - unreserved + reserved + USUAL)),
      },
    remaining < ROOM && few,
  ]
}

/** States of a stack that no deployment gets out of, with the command that does. */
const STUCK: Record<string, (name: string, region: string) => string> = {
  UPDATE_ROLLBACK_FAILED: (name, region) =>
    `aws cloudformation continue-update-rollback --region ${region} --stack-name ${name}`,
  DELETE_FAILED: (name, region) => `aws cloudformation delete-stack --region ${region} --stack-name ${name}`,
}
/** States after a first deployment that failed. The CDK deletes such a stack before it deploys, unless it is protected. */
const NEVER_CREATED = ['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED']

const stacks: Check = async (config, account) => {
  const { prefix, stage, edge } = config
  const own = ['Data', 'Service', 'Operations'].map((kind) => [`${prefix}-${stage}-${kind}`, account.region] as const)
  const edgeStack = [`${prefix}-${stage}-Edge`, EDGE_REGION] as const
  return Promise.all(
    [...own, ...(edge ? [edgeStack] : [])].map(async ([name, region]): Promise<Finding | false> => {
      const found = await account.stack(name, region)
      if (found === undefined) return false
      const fix = STUCK[found.status]
      if (fix !== undefined)
        return { level: 'error', what: `The stack ${name} is in the state ${found.status}.`, fix: fix(name, region) }
      if (!NEVER_CREATED.includes(found.status) || !found.protected) return false
      return {
        level: 'error',
        what: `The first deployment of ${name} failed (${found.status}), and the stack is protected from deletion. Nothing has used it yet.`,
        fix: `aws cloudformation update-termination-protection --region ${region} --stack-name ${name} --no-enable-termination-protection`,
      }
    }),
  )
}

const mail: Check = async ({ mailFrom, developerProof }, account) => {
  if (mailFrom === undefined)
    return [
      developerProof && {
        level: 'warning',
        what: 'Without mailFrom no e-mail is sent. No developer can confirm an address, so the staff has to verify each one by hand before they can submit an app.',
        fix: 'set the sender: npm run deploy -- -c mailFrom=platform@example.com',
      },
    ]
  const domain = mailFrom.slice(mailFrom.lastIndexOf('@') + 1)
  const create = `aws sesv2 create-email-identity --region ${account.region} --email-identity ${domain}`
  const states = await Promise.all([mailFrom, domain].map((identity) => account.mailIdentity(identity)))
  const known = states.filter((state) => state !== undefined)
  return [
    known.length === 0 && {
      level: 'error',
      what: `SES in ${account.region} knows neither ${mailFrom} nor ${domain}, so it refuses every e-mail.`,
      fix: `${create}, and add the records that it prints to the domain`,
    },
    known.length > 0 &&
      !known.includes(true) && {
        level: 'error',
        what: `SES in ${account.region} hasn't verified ${mailFrom} yet, so it refuses every e-mail.`,
        fix: `aws sesv2 get-email-identity --region ${account.region} --email-identity ${states[0] === undefined ? domain : mailFrom}`,
      },
    !(await account.mailsAnybody()) && {
      level: 'warning',
      what: `SES in ${account.region} is in its sandbox: it sends to verified addresses only, and 200 e-mails a day.`,
      fix: `aws sesv2 put-account-details --region ${account.region} --production-access-enabled --mail-type TRANSACTIONAL --website-url https://${domain} --contact-language EN --additional-contact-email-addresses ${mailFrom}`,
    },
  ]
}

/** Lambda@Edge runs in the region next to the caller, with the executions that this region allows. */
const edge: Check = async (config, account) => {
  if (!config.edge) return []
  const findings: (Finding | false)[] = []
  if (account.region !== EDGE_REGION) {
    const { limit } = await account.concurrency(EDGE_REGION)
    findings.push(
      limit < ROOM && {
        level: 'warning',
        what: `The account allows ${limit} concurrent executions in ${EDGE_REGION}, where CloudFront runs the edge's function for callers nearby.`,
        fix: raise(EDGE_REGION, 'lambda', 'L-B99A9384', USUAL),
      },
    )
  }
  if (config.production && !config.waf)
    findings.push({
      level: 'warning',
      what: `The edge has no web ACL. CloudFront takes one in ${EDGE_REGION} only.`,
      fix: `deploy the stage there: AWS_REGION=${EDGE_REGION} npm run deploy -- -c stage=${config.stage} -c edge=true -c waf=true`,
    })
  return findings
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

const CHECKS: Check[] = [
  concurrency,
  stacks,
  bootstrap,
  certificate,
  checkKey,
  mail,
  edge,
  quotas,
  serviceRoles,
  gatewayLogs,
]

/** Compares a stage's settings with the account it is deployed to. @returns errors first */
export async function checkAccount(config: Config, account: Account): Promise<Finding[]> {
  const found = (await Promise.all(CHECKS.map((check) => check(config, account)))).flat()
  return found.filter((one) => one !== false).sort((a, b) => (a.level < b.level ? -1 : a.level > b.level ? 1 : 0))
}
