/** Shows the chosen colours and density before a page is painted that starts nothing else. */
import { applyAppearance } from './appearance.ts'

applyAppearance()
