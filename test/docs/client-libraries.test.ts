import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const GUIDE = readFileSync('docs/guides/client-libraries.md', 'utf8')
const FOLDERS = ['test/generators', 'test/python', 'test/generators/java', 'test/generators/go']

/** Everything that names a version which a test installs. */
const sources = [
  readFileSync('package.json', 'utf8'),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => readFileSync(path.join(folder, name), 'utf8')),
  ),
].join('\n')

/** Rows of the guide's tables: the name, without its link, and the exact version. */
const rows = [...GUIDE.matchAll(/^\| \[?([^|\]]+?)\]?(?:\([^)]*\))? \| ([^|]*\d[^|]*) \|/gm)].map(
  ([, name = '', version = '']) => ({ name, version: /\d+\.\d+\.\d+/.exec(version)?.[0] ?? version }),
)

/** Texts with which the tests install it. */
const INSTALLS: Record<string, (version: string) => string> = {
  'openapi-typescript': (version) => `"openapi-typescript": "${version}"`,
  'openapi-python-client': (version) => `openapi-python-client==${version}`,
  'datamodel-code-generator': (version) => `datamodel-code-generator==${version}`,
  'openapi-generator': (version) => `openapi-generator-cli:${version}`,
  '@hey-api/openapi-ts': (version) => `@hey-api/openapi-ts@${version}`,
  orval: (version) => `orval@${version}`,
  'openapi-fetch': (version) => `openapi-fetch@${version}`,
  Postman: (version) => `openapi-to-postmanv2@${version}`,
  Bruno: (version) => `@usebruno/cli@${version}`,
  FastMCP: (version) => `fastmcp==${version}`,
  'oapi-codegen': (version) => `oapi-codegen@v${version}`,
  'openid-client': (version) => `"openid-client": "${version}"`,
  oauth4webapi: (version) => `"oauth4webapi": "${version}"`,
  Authlib: (version) => `authlib==${version}`,
  'requests-oauthlib': (version) => `requests-oauthlib==${version}`,
  'golang.org/x/oauth2': (version) => `golang.org/x/oauth2@v${version}`,
  'Spring Security': (version) => `<version>${version}</version>`,
}

describe('the guide to client libraries', () => {
  it('lists the generators and OAuth libraries that the tests run', () => {
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(INSTALLS))
  })

  it.each(rows)('names the version of $name that the tests install', ({ name, version }) => {
    expect(sources).toContain(INSTALLS[name]?.(version))
  })
})
