import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import type { Stack } from '#local/template/assembly.ts'
import { createResolver } from '#local/template/resolve.ts'
import { read, root } from '../docs/markdown.ts'

interface Step {
  uses?: string
  run?: string
  with?: Record<string, unknown>
}

interface Job {
  steps?: Step[]
  uses?: string
  environment?: string
  permissions?: Record<string, string>
  needs?: string
}

interface Workflow {
  on: Record<string, unknown>
  permissions: Record<string, string>
  jobs: Record<string, Job>
}

const FOLDER = '.github/workflows'
const files = readdirSync(join(root, FOLDER))
const load = (file: string) => parseYaml(read(`${FOLDER}/${file}`)) as Workflow
const { scripts } = JSON.parse(read('package.json'))
const steps = ({ jobs }: Workflow) => Object.values(jobs).flatMap((job) => job.steps ?? [])

describe.each(files)('the workflow %s', (file) => {
  const workflow = load(file)

  it('runs only scripts of package.json', () => {
    for (const { run = '' } of steps(workflow))
      for (const [, name = ''] of run.matchAll(/npm (?:run (?:--silent )?)?(?!ci\b|run\b|publish\b)([a-z][\w:-]*)/g))
        expect(scripts, run).toHaveProperty([name])
  })

  it('uses actions by commit, with the version as a comment, and workflows of this repository', () => {
    for (const line of read(`${FOLDER}/${file}`).split('\n')) {
      const [, used = ''] = /uses: (.+)$/.exec(line) ?? []
      if (used.startsWith('./')) expect(files).toContain(used.slice(used.lastIndexOf('/') + 1))
      else if (used) expect(used).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    }
  })

  it('may read the repository and nothing else, except for jobs that deploy, which may ask for an OIDC token', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    for (const [name, { permissions, environment, uses }] of Object.entries(workflow.jobs)) {
      const deploys = environment !== undefined || uses === './.github/workflows/deploy-stage.yml'
      expect(permissions, name).toEqual(deploys ? { contents: 'read', 'id-token': 'write' } : undefined)
    }
  })

  it('reads no secret, and puts nothing that an event says into a command', () => {
    expect(read(`${FOLDER}/${file}`)).not.toContain('secrets.')
    for (const { run = '' } of steps(workflow)) expect(run).not.toContain('${{')
  })

  it('leaves no token of the repository for later steps', () => {
    for (const { uses, with: given } of steps(workflow))
      if (uses?.startsWith('actions/checkout@')) expect(given).toMatchObject({ 'persist-credentials': false })
  })
})

describe('the pipeline', () => {
  it('releases packages of one version, whatever their language', () => {
    const { version } = JSON.parse(read('package.json'))
    expect(read('packages/sdk-py/pyproject.toml')).toMatch(new RegExp(`^version = "${version}"$`, 'm'))
  })

  it('never gives a pull request what deploys', () => {
    expect(Object.keys(load('test.yml').on)).toEqual(['pull_request', 'workflow_call'])
    for (const file of files) expect(load(file).on).not.toHaveProperty('pull_request_target')
    expect(Object.keys(load('deploy.yml').on)).toEqual(['push', 'workflow_dispatch'])
  })

  it('deploys prod after staging, and staging after the tests, each in the environment that approves it', () => {
    const { jobs } = load('deploy.yml')
    expect(jobs.staging?.needs).toBe('test')
    expect(jobs.prod?.needs).toBe('staging')
    expect(load('deploy-stage.yml').jobs.deploy?.environment).toMatch(/^\$\{\{ inputs\.stage \}\}$/)
  })

  it('installs packages before it has credentials, and deploys with `npm run deploy`', () => {
    const done = steps(load('deploy-stage.yml')).map(({ uses, run }) => uses?.split('@')[0] ?? run)
    expect(done.indexOf('npm ci')).toBeLessThan(done.indexOf('aws-actions/configure-aws-credentials'))
    expect(done.at(-1)).toBe('npm run deploy -- -c stage="$DEPLOY_STAGE" --yes')
  })

  it('publishes after the tests, in an environment of its own, and runs no script of a package before', () => {
    const { on, jobs } = load('release.yml')
    expect(on).toEqual({ push: { tags: ['v*'] } })
    expect([jobs.test?.uses, jobs.npm?.needs, jobs.npm?.environment]).toEqual([
      './.github/workflows/test.yml',
      'test',
      'npm',
    ])
    const commands = (jobs.npm?.steps ?? []).map(({ run }) => run ?? '')
    expect(commands.filter((run) => /^npm (?!publish)/.test(run))).toEqual(['npm ci --ignore-scripts'])
    expect(commands.at(-1)).toBe('node ops/publish.ts dist/cli dist/sdk-ts')
  })

  it('restores no cache where it may publish or deploy', () => {
    for (const file of files) {
      for (const [name, { permissions, steps = [] }] of Object.entries(load(file).jobs)) {
        const node = steps.find(({ uses }) => uses?.startsWith('actions/setup-node@'))
        if (permissions?.['id-token'] !== 'write' || !node) continue
        expect(node.with, `${file} ${name}`).toMatchObject({ 'package-manager-cache': false })
        expect(node.with, `${file} ${name}`).not.toHaveProperty('cache')
      }
    }
  })

  it('skips what PyPI has with the same bytes', () => {
    const commands = (load('release.yml').jobs.pypi?.steps ?? []).map(({ run }) => run ?? '')
    expect(commands.at(-1)).toMatch(/uv==\S+ publish .*--check-url \S+ /)
  })

  it('keeps packages and actions up to date', () => {
    const { updates } = parseYaml(read('.github/dependabot.yml')) as { updates: { 'package-ecosystem': string }[] }
    expect(updates.map((one) => one['package-ecosystem'])).toEqual(['npm', 'github-actions'])
  })
})

interface RoleTemplate {
  Parameters: Record<string, { Default?: string; AllowedPattern?: string }>
  Rules: Record<string, { Assertions: { Assert: unknown }[] }>
  Conditions: Record<string, unknown>
  Resources: {
    Role: {
      Type: string
      Properties: {
        AssumeRolePolicyDocument: { Statement: { Condition: unknown }[] }
        Policies: { PolicyDocument: { Statement: { Action: string | string[]; Resource: unknown }[] } }[]
      }
    }
  }
}

describe('the role of the pipeline', () => {
  const template = parseYaml(read('docs/pipeline-role.yml')) as RoleTemplate
  const { AssumeRolePolicyDocument: trust, Policies } = template.Resources.Role.Properties
  const documented = read('docs/deploy.md')

  /** Evaluates a value of the template as CloudFormation does, with parameters that it accepts. */
  const evaluate = (given: Record<string, string>, value: unknown): unknown => {
    for (const [name, text] of Object.entries(given))
      expect(text, name).toMatch(new RegExp(`^(${template.Parameters[name]?.AllowedPattern ?? '.*'})$`))
    const parameters = Object.fromEntries(
      Object.entries(template.Parameters).map(([name, { Default }]) => [name, { Default: given[name] ?? Default }]),
    )
    const stack: Stack = {
      name: 'pipeline',
      resources: {},
      parameters,
      conditions: template.Conditions,
      mappings: {},
      outputs: {},
      exports: [],
      assets: new Map(),
    }
    return createResolver([stack], { aws: '' }).resolve(stack, value)
  }
  const trusted = (given: Record<string, string>): unknown => {
    const { Condition } = trust.Statement[0] ?? {}
    return evaluate({ Repository: 'octocat/my-repo', Environment: 'staging', ...given }, Condition)
  }
  const exactly = (sub: string) => ({
    StringEquals: {
      'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
      'token.actions.githubusercontent.com:sub': sub,
    },
  })
  const ids = { OwnerId: '123456', RepositoryId: '456789' }

  it.each<[string, Record<string, string>, string]>([
    ['with its ids', ids, 'repo:octocat@123456/my-repo@456789:environment:staging'],
    ['by its name alone if no ids are given', {}, 'repo:octocat/my-repo:environment:staging'],
    [
      'with an environment whose name has a colon, which GitHub escapes',
      { ...ids, Environment: 'eu:prod: blue' },
      'repo:octocat@123456/my-repo@456789:environment:eu%3Aprod%3A blue',
    ],
    [
      'with dots and hyphens in names',
      { ...ids, Repository: 'a-b/c.d_e-f' },
      'repo:a-b@123456/c.d_e-f@456789:environment:staging',
    ],
  ])('trusts one environment of one repository, %s', (_, given, subject) => {
    expect(trust.Statement).toHaveLength(1)
    expect(trusted(given)).toEqual(exactly(subject))
  })

  it('takes no parameter that IAM would read as a variable or a pattern', () => {
    for (const [name, text] of [
      ['Environment', '${'.concat('aws:username}')],
      ['Environment', 'prod*'],
      ['OwnerId', '*'],
      ['RepositoryId', '1/x@2'],
      ['Repository', 'octocat@1/my-repo'],
    ] as const)
      expect(() => evaluate({ [name]: text }, ''), text).toThrow()
  })

  it('takes both ids or neither', () => {
    const holds = (given: Record<string, string>) =>
      evaluate(
        given,
        template.Rules.BothIds?.Assertions.map(({ Assert }) => Assert),
      )
    expect([holds(ids), holds({}), holds({ OwnerId: '1' }), holds({ RepositoryId: '1' })]).toEqual([
      [true],
      [true],
      [false],
      [false],
    ])
  })

  it('has a stack of its own for each environment', () => {
    expect(documented).toMatch(/--stack-name platform-pipeline-staging [^`]*Environment=staging/)
  })

  it('may act as the CDK, and otherwise only read what the preflight check reads', () => {
    const [act, ...rest] = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    expect(act).toMatchObject({
      Action: 'sts:AssumeRole',
      Resource: { 'Fn::Sub': expect.stringContaining(':role/cdk-') },
    })
    const actions = rest.flatMap(({ Action }) => Action)
    for (const action of actions) expect(action).toMatch(/:(Get|Describe)\w+$|^apigateway:GET$/)
    for (const action of actions) expect(documented).toContain(action.split(':')[1])
  })
})
