"""Where the datasets that the tables name were published: GitHub repository and file."""

from __future__ import annotations

SOURCES = {
    "ac2": "github.com/ipeirotis/Get-Another-Label, data/AdultContent2",
    "birds": "github.com/welinder/cubam, demo/bluebirds",
    "dog": "github.com/zhydhkcws/crowd_truth_infer, datasets/s4_Dog data",
    "ducks": "github.com/welinder/cubam, demo/ducks",
    "face": "github.com/zhydhkcws/crowd_truth_infer, datasets/s4_Face Sentiment Identification",
    "fact_eval": "github.com/yuan-li/truth-inference-at-scale, data/crowdscale2013/fact_eval",
    "labelme": "github.com/JunjieChiang/Label-Aggregation, data/labelme",
    "music": "github.com/orchidproject/active-crowd-toolkit, Data/MS.csv",
    "product": "github.com/zhydhkcws/crowd_truth_infer, datasets/d_jn-product",
    "rte": "github.com/edwinrobots/bayesian_combination_tutorial2, all_collected_data",
    "sentiment": "github.com/yuan-li/truth-inference-at-scale, data/crowd_truth_inference",
    "sp": "github.com/orchidproject/active-crowd-toolkit, Data/SP.csv",
    "temp": "github.com/edwinrobots/bayesian_combination_tutorial2, all_collected_data",
    "trec2011_vuurens": "github.com/ipeirotis/Get-Another-Label, data/JeroenVuurens",
    "trec_graded": "github.com/yuan-li/truth-inference-at-scale, data/crowd_truth_inference",
    "trec_graded_raw": "github.com/yuan-li/truth-inference-at-scale, data/crowd_truth_inference",
    "trec_task2_gold": "github.com/zhangyuc/SpectralMethodsMeetEM, src/trec_crowd.txt",
    "trec_task2_test": "github.com/zhangyuc/SpectralMethodsMeetEM, src/trec_crowd.txt",
    "weather": "github.com/orchidproject/active-crowd-toolkit, Data/CF_amt.csv",
    "web": "github.com/zhangyuc/SpectralMethodsMeetEM, src/web_crowd.txt",
    "zencrowd": "github.com/orchidproject/active-crowd-toolkit, Data/ZenCrowd_all.csv",
}
