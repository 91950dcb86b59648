/*
 * deployment.h - one llama-server as it is declared, and what covers it.
 *
 *     engine.json --declaration.h--> build, instructions, options
 *                                          |
 *     config/recipes --recipe_file.h--> recipes --recipe_choice.h--> recipe.h
 *                                                                      |
 *     GGUF file ----------------------------------------------> deployed.h
 *
 * A declaration is read as far as it decides bits; what no recipe covers is
 * refused in words. Sees forward, vocab, weights and base.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_DEPLOYMENT_H
#define LLAMA_DEPLOYMENT_H

#endif
