import { wordLookalikes } from '../lookalikes.ts'
import type { SubmissionCheck } from './subject.ts'

/**
 * Compares the name with those of other developers' listed apps (UTS 39). A moderator has to accept this check explicitly
 * if it fails, and customers see it when they install the app.
 */
export const similarName: SubmissionCheck = ({ app, lookalikes }) =>
  lookalikes.length === 0
    ? {
        status: 'passed',
        message: 'No listed app of another developer has a similar name.',
        evidence: { name: app.name },
      }
    : {
        status: 'failed',
        message: `The name looks like ${wordLookalikes(lookalikes)}.`,
        fix: 'Choose another name, or explain to the moderator why both may exist.',
        evidence: { name: app.name, similar_to: lookalikes },
      }
