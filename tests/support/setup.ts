import { afterAll } from 'vitest'
import { cleanUpAfterFile } from './after-file.ts'
import './deny-network.ts'
import { assertStatementsSound, noteStatements } from './sound-statements.ts'

noteStatements()
afterAll(assertStatementsSound)
// Test files share modules, but Vitest runs this one again for each file.
afterAll(cleanUpAfterFile)
