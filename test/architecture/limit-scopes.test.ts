import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { LIMIT_SCOPES } from '#shared/kernel/limit-scopes.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

it('every refusal by a limit names a documented scope, because one function builds them all', () => {
  const builders = ['shared', 'functions'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file))
      .filter((file) => /fail\(\s*'rate_limited'|limit_scope:/.test(read(file))),
  )
  expect(builders, 'use rateLimited() of shared/foundation/limits').toEqual([
    join('shared', 'foundation', 'limits', 'rate-limited.ts'),
  ])
})

it('the contract documents every limit scope and no others', () => {
  const [, section = ''] = /## Limit scopes\n([\s\S]*?)\n## /.exec(read('docs/contract/errors.md')) ?? []
  const documented = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, scope]) => scope)
  expect(documented.filter((scope) => scope !== 'limit_scope')).toEqual(Object.keys(LIMIT_SCOPES))
})
