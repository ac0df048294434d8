import { describe, expect, it } from 'vitest'
import { endpointsIn, testsThatReach } from './reach.ts'

const nearest = (source: string): string | undefined => testsThatReach(source)[0]?.file

describe('the tests that reach a source', () => {
  it.each([
    ['functions/console/budgets.ts', 'test/functions/console/budgets.test.ts'],
    ['functions/workers/sweeper.ts', 'test/functions/workers/sweeper-handlers.test.ts'],
    ['shared/kernel/canonical-json.ts', 'test/shared/kernel/canonical-json.test.ts'],
  ])('of %s begin with the one that has its name', (source, test) => {
    expect(nearest(source)).toBe(test)
  })

  it('include those that call its endpoints, although they don’t import it', () => {
    const files = testsThatReach('functions/api/run-start.ts').map(({ file }) => file)
    expect(files).toContain('test/functions/api/runs.test.ts')
    expect(files).not.toContain('test/shared/kernel/canonical-json.test.ts')
  })

  it('of a test are itself', () => {
    expect(nearest('test/shared/kernel/canonical-json.test.ts')).toBe('test/shared/kernel/canonical-json.test.ts')
  })
})

it('finds the paths of a module’s endpoints, and none in other sources', () => {
  expect(endpointsIn(['functions/console/budgets.ts']).every((path) => path.startsWith('/console/'))).toBe(true)
  expect(endpointsIn(['functions/console/budgets.ts'])).not.toEqual([])
  expect(endpointsIn(['shared/work/runs/start.ts', 'functions/workers/sweeper.ts'])).toEqual([])
})
