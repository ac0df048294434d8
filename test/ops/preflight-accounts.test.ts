import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Stack } from '#local/template/assembly.ts'
import { createResolver } from '#local/template/resolve.ts'
import { preflight } from '#ops/preflight/run.ts'
import { settleRegion } from '#ops/region.ts'
import { checkAwsIn } from '../docs/commands.ts'
import { read } from '../docs/markdown.ts'
import { type MadeUpAccount, serveAccount } from './accounts.ts'

interface KeyTemplate {
  Resources: { Key: { Properties: { KeyPolicy: object } } }
}

const folder = mkdtempSync(join(tmpdir(), 'accounts-'))

/** Sets up an environment in which nothing but a profile knows the region. */
const asProfile = (region: string | undefined): void => {
  const file = join(folder, `config-${region}`)
  const credentials = 'aws_access_key_id = made-up\naws_secret_access_key = made-up\n'
  writeFileSync(file, `[profile work]\n${credentials}${region === undefined ? '' : `region = ${region}\n`}`)
  for (const [name, value] of Object.entries({
    AWS_CONFIG_FILE: file,
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
    AWS_PROFILE: 'work',
    AWS_ACCESS_KEY_ID: undefined,
    AWS_SECRET_ACCESS_KEY: undefined,
    AWS_REGION: undefined,
    AWS_DEFAULT_REGION: undefined,
    CDK_DEFAULT_REGION: undefined,
  }))
    vi.stubEnv(name, value)
}

/** Runs the check with the SDK's clients against a made-up account. @returns whether it passed and what it printed */
const check = async (account: MadeUpAccount, region: string, settings: Record<string, string>) => {
  asProfile(region)
  const { url, close } = await serveAccount(account)
  vi.stubEnv('AWS_ENDPOINT_URL', url)
  const printed: unknown[] = []
  vi.spyOn(console, 'log').mockImplementation((line) => printed.push(line))
  try {
    const passed = await preflight(settings)
    // Each command that it offers is one of AWS, with its options.
    for (const [command = ''] of printed.join('\n').matchAll(/\baws .*?(?=, (?:or|and) |$)/gm))
      expect(checkAwsIn(command), command).toEqual([])
    return { passed, printed: `\n${printed.join('\n')}\n` }
  } finally {
    await close()
  }
}

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

const certificateArn = 'arn:aws:acm:eu-central-1:222222222222:certificate/1'
const production = { stage: 'prod', domainName: 'api.example.com', certificateArn }

describe('the check before a deployment, with the SDK’s clients', () => {
  it('asks in the region of the profile', async () => {
    asProfile('eu-central-1')
    expect(await settleRegion()).toBe('eu-central-1')
    expect(process.env.AWS_REGION).toBe('eu-central-1')
    asProfile('eu-central-1')
    vi.stubEnv('AWS_DEFAULT_REGION', 'eu-west-1')
    expect(await settleRegion()).toBe('eu-west-1')
    asProfile(undefined)
    await expect(settleRegion()).rejects.toThrow('aws configure set region')
  })

  const fresh: MadeUpAccount = {
    id: '111111111111',
    executions: { 'eu-central-1': { limit: 10, left: 10 } },
    bootstrapped: ['eu-central-1'],
  }

  it('lets a new account with 10 executions deploy what reserves none, and names the way out where something does', async () => {
    expect(await check(fresh, 'eu-central-1', { stage: 'dev' })).toMatchInlineSnapshot(`
      {
        "passed": true,
        "printed": "
      Preflight of Platform-dev in account 111111111111, eu-central-1
      warning  10 concurrent executions remain for requests. At 100 ms a request, that is 100 requests a second.
               aws service-quotas request-service-quota-increase --region eu-central-1 --service-code lambda --quota-code L-B99A9384 --desired-value 1000
      ",
      }
    `)
    expect(await check(fresh, 'eu-central-1', { stage: 'prod' })).toMatchInlineSnapshot(`
      {
        "passed": false,
        "printed": "
      Preflight of Platform-prod in account 111111111111, eu-central-1
      error    The account allows 10 concurrent executions in eu-central-1. The stage reserves 869, and Lambda keeps 100 for functions without a reservation.
               aws service-quotas request-service-quota-increase --region eu-central-1 --service-code lambda --quota-code L-B99A9384 --desired-value 1869, or deploy with -c 'reservedConcurrency={}'
      warning  Without mailFrom no e-mail is sent. No developer can confirm an address, so the staff has to verify each one by hand before they can submit an app.
               set the sender: npm run deploy -- -c mailFrom=platform@example.com
      ",
      }
    `)
    const { passed, printed } = await check(fresh, 'eu-central-1', { stage: 'prod', reservedConcurrency: '{}' })
    expect(passed, printed).toBe(true)
  })

  it('asks an account with the usual 1,000 for more than it has, and finds what keeps e-mail from being sent', async () => {
    const usual: MadeUpAccount = {
      id: '222222222222',
      executions: { 'eu-central-1': { limit: 1_000, left: 1_000 } },
      bootstrapped: ['eu-central-1'],
      certificates: { [certificateArn]: { Status: 'ISSUED', DomainName: 'api.example.com' } },
      identities: { 'example.com': false },
    }
    expect(
      await check(usual, 'eu-central-1', { ...production, mailFrom: 'platform@example.com' }),
    ).toMatchInlineSnapshot(`
      {
        "passed": false,
        "printed": "
      Preflight of Platform-prod in account 222222222222, eu-central-1
      error    SES in eu-central-1 hasn't verified platform@example.com yet, so it refuses every e-mail.
               aws sesv2 get-email-identity --region eu-central-1 --email-identity example.com
      warning  131 concurrent executions remain for requests. At 100 ms a request, that is 1310 requests a second.
               aws service-quotas request-service-quota-increase --region eu-central-1 --service-code lambda --quota-code L-B99A9384 --desired-value 1869
      warning  SES in eu-central-1 is in its sandbox: it sends to verified addresses only, and 200 e-mails a day.
               aws sesv2 put-account-details --region eu-central-1 --production-access-enabled --mail-type TRANSACTIONAL --website-url https://example.com --contact-language EN --additional-contact-email-addresses platform@example.com
      ",
      }
    `)
  })

  it('finds what keeps the edge from working in an account whose first deployment failed', async () => {
    const stuck: MadeUpAccount = {
      id: '333333333333',
      executions: { 'eu-central-1': { limit: 3_000, left: 3_000 }, 'us-east-1': { limit: 10, left: 10 } },
      bootstrapped: ['eu-central-1'],
      stacks: {
        'Platform-prod-Data': { status: 'ROLLBACK_COMPLETE', protected: true },
        'Platform-prod-Edge': { status: 'DELETE_FAILED', protected: false },
      },
    }
    const settings = { stage: 'prod', edge: 'true', mailFrom: 'platform@example.com' }
    await expect(check(stuck, 'eu-central-1', settings)).rejects.toThrow('AWS_REGION=us-east-1 npm run deploy')
    expect(await check(stuck, 'eu-central-1', { ...settings, waf: 'false' })).toMatchInlineSnapshot(`
      {
        "passed": false,
        "printed": "
      Preflight of Platform-prod in account 333333333333, eu-central-1
      error    The first deployment of Platform-prod-Data failed (ROLLBACK_COMPLETE), and the stack is protected from deletion. Nothing has used it yet.
               aws cloudformation update-termination-protection --region eu-central-1 --stack-name Platform-prod-Data --no-enable-termination-protection
      error    The stack Platform-prod-Edge is in the state DELETE_FAILED.
               aws cloudformation delete-stack --region us-east-1 --stack-name Platform-prod-Edge
      error    The CDK isn't bootstrapped in us-east-1.
               npx cdk bootstrap aws://333333333333/us-east-1
      error    SES in eu-central-1 knows neither platform@example.com nor example.com, so it refuses every e-mail.
               aws sesv2 create-email-identity --region eu-central-1 --email-identity example.com, and add the records that it prints to the domain
      warning  SES in eu-central-1 is in its sandbox: it sends to verified addresses only, and 200 e-mails a day.
               aws sesv2 put-account-details --region eu-central-1 --production-access-enabled --mail-type TRANSACTIONAL --website-url https://example.com --contact-language EN --additional-contact-email-addresses platform@example.com
      warning  The account allows 10 concurrent executions in us-east-1, where CloudFront runs the edge's function for callers nearby.
               aws service-quotas request-service-quota-increase --region us-east-1 --service-code lambda --quota-code L-B99A9384 --desired-value 1000
      warning  The edge has no web ACL. CloudFront takes one in us-east-1 only.
               deploy the stage there: AWS_REGION=us-east-1 npm run deploy -- -c stage=prod -c edge=true -c waf=true
      warning  The service-linked role AWSServiceRoleForLambdaReplicator doesn't exist. AWS creates it if the deployer may (iam:CreateServiceLinkedRole).
               aws iam create-service-linked-role --aws-service-name replicator.lambda.amazonaws.com
      ",
      }
    `)
  })

  it('finds a key of the operator that is missing, of the wrong kind, disabled, or that its policy withholds', async () => {
    const kmsKeyArn = 'arn:aws:kms:eu-central-1:444444444444:key/1234abcd-12ab-34cd-56ef-1234567890ab'
    const template = parseYaml(read('docs/customer-key.yml')) as KeyTemplate
    const stack: Stack = {
      name: 'key',
      resources: {},
      parameters: {},
      conditions: {},
      mappings: {},
      outputs: {},
      exports: [],
      assets: new Map(),
    }
    const resolved = JSON.stringify(
      createResolver([stack], { aws: '' }).resolve(stack, template.Resources.Key.Properties.KeyPolicy),
    )
      .replaceAll('us-east-1', 'eu-central-1')
      .replaceAll('000000000000', '444444444444')
    const policy = JSON.parse(resolved) as { Statement: { Sid: string }[] }
    const only = (...sids: string[]) => ({ Statement: policy.Statement.filter(({ Sid }) => sids.includes(Sid)) })
    const found = async (keys: NonNullable<MadeUpAccount['keys']>, settings: Record<string, string> = {}) => {
      const account: MadeUpAccount = { id: '444444444444', executions: {}, bootstrapped: ['eu-central-1'], keys }
      const { printed } = await check(account, 'eu-central-1', { stage: 'dev', kmsKeyArn, ...settings })
      return printed.split('\n').slice(2).join('\n').replaceAll(kmsKeyArn, '<key>').trim()
    }
    const paid = { monthlyBudget: '100', costMonitorArn: 'arn:aws:ce::444444444444:anomalymonitor/1' }
    expect(await found({ [kmsKeyArn]: { policy } }, paid)).toBe('ok       Nothing stands in the way.')
    expect(await found({})).toMatchInlineSnapshot(`
      "error    The key <key> doesn't exist.
               create one: aws cloudformation deploy --region eu-central-1 --stack-name platform-key --template-file docs/customer-key.yml"
    `)
    expect(await found({ [kmsKeyArn]: { spec: 'RSA_2048', policy } })).toMatchInlineSnapshot(`
      "error    The key <key> is RSA_2048 for ENCRYPT_DECRYPT. Services encrypt with symmetric keys (SYMMETRIC_DEFAULT, ENCRYPT_DECRYPT) only.
               create one: aws cloudformation deploy --region eu-central-1 --stack-name platform-key --template-file docs/customer-key.yml"
    `)
    expect(await found({ [kmsKeyArn]: { state: 'Disabled', policy } })).toMatchInlineSnapshot(`
      "error    The key's state is Disabled, and it must be Enabled.
               aws kms enable-key --region eu-central-1 --key-id <key>"
    `)
    expect(await found({ [kmsKeyArn]: { state: 'PendingDeletion', policy } })).toMatchInlineSnapshot(`
      "error    The key <key> is going to be deleted. Nothing that it has encrypted can be read then.
               aws kms cancel-key-deletion --region eu-central-1 --key-id <key>, and aws kms enable-key --region eu-central-1 --key-id <key>"
    `)
    expect(await found({ [kmsKeyArn]: { policy: only('Account') } })).toMatchInlineSnapshot(`
      "error    The key's policy doesn't let these use it: logs.eu-central-1.amazonaws.com, events.amazonaws.com, cloudwatch.amazonaws.com.
               aws kms get-key-policy --region eu-central-1 --key-id <key> --policy-name default --query Policy --output text, and put it back with the statements of docs/customer-key.yml: aws kms put-key-policy --region eu-central-1 --key-id <key> --policy-name default --policy file://policy.json"
    `)
    expect(await found({ [kmsKeyArn]: { policy: only('Logs', 'Events') } }, paid)).toMatchInlineSnapshot(`
      "error    The key's policy doesn't let these use it: arn:aws:iam::444444444444:root, cloudwatch.amazonaws.com, budgets.amazonaws.com, costalerts.amazonaws.com.
               aws kms get-key-policy --region eu-central-1 --key-id <key> --policy-name default --query Policy --output text, and put it back with the statements of docs/customer-key.yml: aws kms put-key-policy --region eu-central-1 --key-id <key> --policy-name default --policy file://policy.json"
    `)
    expect(await found({ [kmsKeyArn]: {} })).toMatchInlineSnapshot(`
      "warning  The key's policy can't be read. It has to let these use the key: arn:aws:iam::444444444444:root, logs.eu-central-1.amazonaws.com, events.amazonaws.com, cloudwatch.amazonaws.com.
               compare it with docs/customer-key.yml: aws kms get-key-policy --region eu-central-1 --key-id <key> --policy-name default --query Policy --output text"
    `)
  })

  it('finds nothing in an account that is ready', async () => {
    const ready: MadeUpAccount = {
      id: '444444444444',
      executions: { 'eu-central-1': { limit: 3_000, left: 2_000 } },
      bootstrapped: ['eu-central-1'],
      stacks: {
        'Platform-prod-Data': { status: 'UPDATE_COMPLETE', protected: true },
        'Platform-prod-Service': { status: 'UPDATE_COMPLETE', protected: false },
      },
      certificates: { [certificateArn]: { Status: 'ISSUED', DomainName: '*.example.com' } },
      identities: { 'example.com': true },
      mailsAnybody: true,
      roles: ['AWSServiceRoleForBackup'],
    }
    expect(
      await check(ready, 'eu-central-1', { ...production, backup: 'true', mailFrom: 'platform@example.com' }),
    ).toEqual({
      passed: true,
      printed:
        '\nPreflight of Platform-prod in account 444444444444, eu-central-1\nok       Nothing stands in the way.\n',
    })
  })
})
