import { type App, findLookalikes, type Lookalike } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { quoteName } from '#shared/kernel/names.ts'
import type { AcceptableCheck } from './schemas.ts'

/** Failing checks that a moderator accepts with a decision. */
export interface Accepting {
  accepted_checks?: readonly AcceptableCheck[] | undefined
}

/** Returns the field that shows lookalikes to people who install the app. */
export const similarTo = (lookalikes: Lookalike[]): Pick<App, 'similar_to'> => ({
  similar_to: lookalikes.length > 0 ? lookalikes : undefined,
})

/** Lists lookalikes for a sentence: “Stock helper” (stock-helper) by Acme Ltd. */
export const wordLookalikes = (lookalikes: readonly Lookalike[]): string =>
  lookalikes
    .map(({ name, slug, developer_name }) => `${quoteName(name)} (${slug}) by ${quoteName(developer_name)}`)
    .join(', ')

/**
 * Returns the changes and audit details of an approval under the app's name.
 * @throws `conflict` naming the lookalikes, unless the moderator accepts the failing check `similar_name`
 */
export const acceptedLookalikes = async (
  deps: Pick<Deps, 'table'>,
  app: App,
  { accepted_checks = [] }: Accepting,
): Promise<{ set: Pick<App, 'similar_to'>; details: Record<string, unknown> }> => {
  const lookalikes = await findLookalikes(deps, app)
  if (lookalikes.length > 0 && !accepted_checks.includes('similar_name')) {
    throw fail('conflict', {
      message: `The name ${quoteName(app.name)} looks like ${wordLookalikes(lookalikes)}.`,
      fix: 'Reject it, or accept the failing check with {"accepted_checks": ["similar_name"]}. Customers then see the similar names when they install the app.',
      details: { failed_checks: ['similar_name'], similar_to: lookalikes },
    })
  }
  return {
    set: similarTo(lookalikes),
    details:
      lookalikes.length > 0
        ? { accepted_checks: ['similar_name'], similar_to: lookalikes.map(({ app_id }) => app_id) }
        : {},
  }
}
