import { expect, expectTypeOf, it } from 'vitest'
import { type Claims, TOKENS, type TokenKind } from '#shared/foundation/tokens/index.ts'

/** Tokens that belong to no workspace. */
const OF_NO_WORKSPACE = ['admin'] as const satisfies TokenKind[]

it('every token that reaches a workspace’s data names the workspace, by which an edge finds its cell (docs/scale.md)', () => {
  type OfWorkspace = Exclude<TokenKind, (typeof OF_NO_WORKSPACE)[number]>
  expectTypeOf<Claims[OfWorkspace]['ws']>().toEqualTypeOf<string>()
  expect(Object.keys(TOKENS)).toEqual(expect.arrayContaining([...OF_NO_WORKSPACE]))
})
