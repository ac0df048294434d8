import { expectTypeOf, it } from 'vitest'
import type { Work, WorkWrite } from '#shared/foundation/work/index.ts'
import type { Table } from '#shared/table/table.ts'

type Taken<Takes extends (writes: never, ...rest: never[]) => unknown> = Parameters<Takes>[0]

// The compiler checks it: `npm run check` fails, not this test.
it('a write that a message follows is taken by a unit of work, which sends the message, and not by the table', () => {
  expectTypeOf<readonly WorkWrite[]>().toExtend<Taken<Work['commit']>>()
  expectTypeOf<readonly WorkWrite[]>().not.toExtend<Taken<Table['transact']>>()
  expectTypeOf<WorkWrite>().not.toExtend<Taken<Table['change']>>()
})
